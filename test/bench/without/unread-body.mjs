export * from '../../../build/http/unread-body.js';

/** Leaves connections open whose request body was not read. */
export const cutUnreadBody = () => {};
