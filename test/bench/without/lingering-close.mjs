export * from '../../../build/http/server/lingering-close.js';

/** Leaves connections open whose request body was not read. */
export const closeAfterUnreadBody = () => {};
