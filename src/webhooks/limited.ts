/** Runs work, so much of it at a time, in the order in which it was asked for. */
export type Limited = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimited(most: number): Limited {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    // A place goes straight from one to the next in line.
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
