export * from '../../../build/http/server/admission-control.js';

/** Begins every request at once. */
export const createAdmissionControl = () => (/** @type {() => void} */ begin) => begin();
