import type { GraphQLError } from 'graphql';
import type { ChangeDeadline } from '../../keys/ports.js';
import { AppError } from '../../lib/errors.js';
import { operationError } from '../errors.js';

/** Longer than an operation within the limits takes on a busy machine, shorter than the timeouts of clients and proxies. */
export const defaultDeadlineMs = 5000;

/**
 * The time limit of one operation. Replaces an `AbortController` with a timer, which takes several times as long to
 * create, although nearly every operation completes in time.
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

  /** @throws {Error} `error` when the deadline has expired. */
  throwIfExpired(): void {
    if (this.#hasExpired) throw this.error;
  }

  /** Calls `listener` when the deadline expires. Returns a function that removes the listener. */
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
 * Starts the deadline of an operation. The executor applies it to a query, which fails as a whole. `runUntilDeadline`
 * applies it to each mutation separately, because the response must report what earlier mutations have changed.
 */
export function startDeadline(timeoutMs: number, isMutation: boolean): Deadline {
  return new Deadline(timeoutMs, isMutation ? changeTimeoutError : queryTimeoutError);
}

const formatSeconds = (timeoutMs: number) => `${timeoutMs / 1000} seconds`;

function queryTimeoutError(timeoutMs: number): GraphQLError {
  const message = `The query took longer than ${formatSeconds(timeoutMs)}.`;
  return operationError(new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 }));
}

function changeTimeoutError(timeoutMs: number): AppError {
  const message = `The operation took longer than ${formatSeconds(timeoutMs)} and this change had not started: nothing was written.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

/**
 * Runs one mutation until the deadline of its operation. A mutation that has not started to write by then never writes.
 * A mutation that has started completes, and the response reports its result.
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
    onExpire: (listener: () => void) => deadline.onExpire(listener),
  };
  return new Promise((resolve, reject) => {
    const removeListener = deadline.onExpire(() => {
      if (!isCommitting) reject(deadline.error);
    });
    (async () => run(changeDeadline))().then(resolve, reject).finally(removeListener);
  });
}
