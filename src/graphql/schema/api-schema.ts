import { builder } from './index.js';

/** The API as people read it, without what only routers ask. It is for printing: a process serves `servedSchema`. */
export const schema = builder.toSchema();
