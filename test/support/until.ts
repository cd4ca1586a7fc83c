// Captured at import, because fake timers of a test must not replace them.
const { setTimeout, setImmediate } = globalThis;
const monotonicMs = performance.now.bind(performance);

/** Not reached on a busy machine either, and below the timeout of a test, which would not name the condition. */
const timeoutMs = 100_000;

/**
 * Waits for a condition of a process, a socket or a server that sends no event.
 *
 * @param isMet - polled every five milliseconds of real time
 * @param what - the subject of the error message
 * @throws {Error} if the condition is not met within 100 seconds
 */
export async function until(isMet: () => boolean | Promise<boolean>, what = 'The condition'): Promise<void> {
  for (const endMs = monotonicMs() + timeoutMs; !(await isMet());) {
    if (monotonicMs() > endMs) throw new Error(`${what} was not met within ${timeoutMs / 1000} seconds.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Waits for the timers of this process that are due within a duration. Timers run in the order of their due times, so
 * these run before it ends, even if all timers are late.
 *
 * @param ms - the duration in milliseconds
 */
export async function timersDueWithin(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Runs iterations of the event loop, so that all work completes that waits for neither a timer nor a socket. */
export async function eventLoopTurns(count = 50): Promise<void> {
  for (let iteration = 0; iteration < count; iteration += 1) await new Promise((resolve) => setImmediate(resolve));
}
