/** Runs work after the work that was given before it has ended, whether that failed or not. */
export type OneAtATime = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a queue of its own. */
export function createOneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done;
    return done;
  };
}
