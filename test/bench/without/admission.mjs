export * from '../../../build/http/admission.js';

/** Begins every request at once. */
export const createAdmission = () => (/** @type {() => void} */ begin) => begin();
