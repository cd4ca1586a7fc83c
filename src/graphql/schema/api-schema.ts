import { buildAPISchema } from './build-schema.js';

/** The API schema without the root fields for routers. For printing: the service uses `servedSchema`. */
export const schema = buildAPISchema();
