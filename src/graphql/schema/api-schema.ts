import { builder } from './index.js';
import { withDescription } from './served.js';

/** The API schema without the root fields for routers. For printing: the service uses `servedSchema`. */
export const schema = withDescription(builder.toSchema());
