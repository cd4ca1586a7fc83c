/** Something that happens from time to time, for several to wait for. */
export interface Signal {
  readonly raise: () => void;
  /** Resolves when it is raised the next time, or after so many milliseconds. */
  readonly raised: (withinMs: number | undefined) => Promise<void>;
}

/** The longest that a timer of Node's takes. */
const longestMs = 2_147_483_647;

export function createSignal(): Signal {
  let waiting: (() => void)[] = [];
  return {
    raise() {
      const now = waiting;
      waiting = [];
      for (const go of now) go();
    },
    raised: (withinMs) =>
      new Promise((resolve) => {
        if (withinMs === undefined) return void waiting.push(resolve);
        const timer = setTimeout(resolve, Math.min(withinMs, longestMs));
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
