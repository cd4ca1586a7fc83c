export * from '../../../build/lib/json.js';

/** Rounds long integers, and accepts repeated members. */
export const parseJSON = (/** @type {string} */ text) => JSON.parse(text);
