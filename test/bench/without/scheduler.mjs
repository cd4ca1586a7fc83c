import { createScheduler as createReal } from '../../../build/lib/scheduler.js';

export * from '../../../build/lib/scheduler.js';

/** Starts every request at once. */
export const createScheduler = (/** @type {Parameters<typeof createReal>} */ ...args) => ({
  ...createReal(...args),
  admit: (/** @type {() => void} */ start) => start(),
});
