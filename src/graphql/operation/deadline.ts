import type { GraphQLError } from 'graphql';
import type { ChangeDeadline } from '../../keys/ports.js';
import { AppError } from '../../lib/errors.js';
import { operationError } from '../errors.js';

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

/**
 * Starts the deadline of an operation. A query fails as a whole: it is for the executor. Mutations fail one by one,
 * because the response must report what an earlier one has changed: it is for `runUntilDeadline`.
 */
export function startDeadline(timeoutMs: number, isMutation: boolean): Deadline {
  return new Deadline(timeoutMs, isMutation ? notBegun : tooLong);
}

const inSeconds = (timeoutMs: number) => `${timeoutMs / 1000} seconds`;

function tooLong(timeoutMs: number): GraphQLError {
  const message = `The query took longer than ${inSeconds(timeoutMs)}.`;
  return operationError(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 }));
}

function notBegun(timeoutMs: number): AppError {
  const message = `The operation took longer than ${inSeconds(timeoutMs)} and this change had not started: nothing was written.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

/**
 * Runs one mutation until the deadline of its operation. A mutation that has not started to write by then never does. One
 * that has continues to its end, and its response reports what it did.
 *
 * @throws {AppError} UNAVAILABLE when the deadline expires before the mutation starts to write.
 */
export async function runUntilDeadline<T>(
  deadline: Deadline,
  run: (changeDeadline: ChangeDeadline) => T | Promise<T>,
): Promise<T> {
  deadline.throwIfExpired();
  let isCommitting = false;
  const changeDeadline = {
    throwIfExpired: () => deadline.throwIfExpired(),
    markCommitting: () => {
      deadline.throwIfExpired();
      isCommitting = true;
    },
  };
  return new Promise((resolve, reject) => {
    const removeListener = deadline.onExpire(() => {
      if (!isCommitting) reject(deadline.error);
    });
    (async () => run(changeDeadline))().then(resolve, reject).finally(removeListener);
  });
}
