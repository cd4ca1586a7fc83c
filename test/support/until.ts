// Fake timers of a test must not stop these.
const { setTimeout, setImmediate } = globalThis;
const monotonicMs = performance.now.bind(performance);

/** A busy machine stays far below this. */
const withinMs = 120_000;

/**
 * Waits for a condition of a process, a socket or a server that signals nothing by itself.
 *
 * @param isMet polled every few milliseconds of real time
 * @throws {Error} naming `what` when two minutes have passed
 */
export async function until(isMet: () => boolean | Promise<boolean>, what = 'The condition'): Promise<void> {
  for (const endMs = monotonicMs() + withinMs; !(await isMet());) {
    if (monotonicMs() > endMs) throw new Error(`${what} was not met within ${withinMs / 1000} seconds.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Waits for the timers of this process that are due within a duration. They run before it, however late all of them are:
 * timers run in the order of their due times.
 *
 * @param ms in milliseconds
 */
export async function timersDueWithin(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Lets the event loop turn, so that all work in this process that waits for no timer and no socket is done. */
export async function eventLoopTurns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
