/** An event that several callers can wait for. A `set` before the `wait` is not remembered. */
export interface AsyncEvent {
  /** Resolves every pending `wait`. */
  readonly set: () => void;
  /** Resolves at the next `set`, or after `withinMs` milliseconds; undefined waits without a limit. */
  readonly wait: (withinMs: number | undefined) => Promise<void>;
}

/** Maximum delay of a Node timer. */
const maxTimerMs = 2_147_483_647;

/** Creates an event that is not set. */
export function createAsyncEvent(): AsyncEvent {
  let waiting: (() => void)[] = [];
  return {
    set() {
      const now = waiting;
      waiting = [];
      for (const go of now) go();
    },
    wait: (withinMs) =>
      new Promise((resolve) => {
        if (withinMs === undefined) return void waiting.push(resolve);
        const timer = setTimeout(resolve, Math.min(withinMs, maxTimerMs));
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
