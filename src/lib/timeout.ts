/**
 * Returns the result of the work, or of `onTimeout` after `timeoutMs`. Does not cancel the work.
 *
 * @throws {unknown} the error of the work or of `onTimeout`.
 */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  try {
    return await Promise.race([work, timeout.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
