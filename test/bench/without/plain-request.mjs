export * from '../../../build/http/plain-request.js';

/** Accepts requests that two readers may understand differently. */
export const flawOf = () => undefined;
