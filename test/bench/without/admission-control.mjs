export * from '../../../build/http/server/admission-control.js';

/** Starts every request at once. */
export const createAdmissionControl = () => (/** @type {() => void} */ begin) => begin();
