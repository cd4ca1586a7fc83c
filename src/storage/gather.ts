/** The maximum number of changes in a group. In SQLite small ones take about a millisecond. */
export const maxGroupSize = 128;

/** As many as new requests that may wait. A database that is slower than the requests would let changes wait without end. */
export const maxWaiting = 500;

/** The result of one change of a group, or its error. */
export type ChangeOutcome = { readonly value: unknown } | { readonly error: unknown };

/** The maximum time for which a group waits for more changes. */
const maxDelayMs = 5;

/**
 * Calls `start` once an iteration of the event loop adds no change to those that wait, the group is full, or 5 ms have
 * passed: the scheduler starts requests that arrived together in several iterations. A single change does not wait.
 */
export function whenGathered(count: () => number, start: () => void): void {
  const untilMs = performance.now() + maxDelayMs;
  const check = (seen: number): void => {
    const found = count();
    if (found === seen || found >= maxGroupSize || performance.now() >= untilMs) start();
    else setImmediate(check, found);
  };
  setImmediate(check, count());
}
