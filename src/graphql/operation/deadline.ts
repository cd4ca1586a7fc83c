/** Longer than an operation within the limits takes on a busy machine, shorter than the timeouts of clients and proxies. */
export const defaultDeadlineMs = 5000;

/**
 * The time limit of one operation. It does what its callers need of an `AbortController` with a timer, which takes
 * several times as long to create, and nearly every operation completes in time.
 */
export class Deadline {
  readonly #createError: () => Error;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #error: Error | undefined;
  #hasExpired = false;

  constructor(timeoutMs: number, createError: (timeoutMs: number) => Error) {
    this.#createError = () => createError(timeoutMs);
    this.#timer = setTimeout(() => this.#expire(), timeoutMs);
  }

  /** The error of an operation that exceeded its deadline. */
  get error(): Error {
    return (this.#error ??= this.#createError());
  }

  /** @throws {Error} `error` when the time is up. */
  throwIfExpired(): void {
    if (this.#hasExpired) throw this.error;
  }

  /** Calls a function when the time is up. Returns a function that removes it. */
  onExpire(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops the timer. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  #expire(): void {
    this.#hasExpired = true;
    for (const listener of this.#listeners) listener();
  }
}
