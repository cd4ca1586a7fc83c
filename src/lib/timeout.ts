/**
 * Returns the result of the work, or that of `late` if the work takes longer than `milliseconds`. The work is not cancelled.
 *
 * @throws {unknown} the error of the work or of `late`.
 */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([work, timeIsUp.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
