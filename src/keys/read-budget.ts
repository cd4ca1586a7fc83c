import { AppError } from '../lib/errors.js';
import { createOneAtATime } from '../lib/one-at-a-time.js';
import { withTimeout } from '../lib/timeout.js';

/** Maximum bytes of stored keys and history entries that one request reads: three times the largest response. */
export const readLimitBytes = 6 * 1024 * 1024;

/** Maximum time that one request reads, below the timeouts of clients and proxies. */
export const readDeadlineMs = 5_000;

/** Limits of what one request reads. Background jobs have none. */
export interface ReadBudget {
  /** The deadline in milliseconds of `performance.now()`. */
  readonly endsAtMs: number;
  /** @throws {AppError} UNAVAILABLE when the time is up. */
  readonly requireTime: () => void;
  /** Returns the error of a request whose time is up. */
  readonly expired: () => AppError;
  /** Returns the number of bytes that are left. */
  readonly bytesLeft: () => number;
  /**
   * Takes bytes from the budget before they are read. `noun` names them in the error.
   *
   * @throws {AppError} TOO_LARGE when fewer bytes are left.
   */
  readonly take: (noun: string, count: number, bytes: number) => void;
  /**
   * Runs expensive work, such as a query of many rows, after the other expensive work of the same request. Rejects with
   * UNAVAILABLE at the deadline, whether the work is done or not.
   */
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Creates the budget of a request that starts now. */
export function createReadBudget(
  deadlineMs = readDeadlineMs,
  limitBytes = readLimitBytes,
  now: () => number = () => performance.now(),
): ReadBudget {
  const endsAtMs = now() + deadlineMs;
  let bytesLeft = limitBytes;
  const oneAtATime = createOneAtATime();
  let expiry: AppError | undefined;
  // One instance, because many fields can fail with it.
  const expired = () => (expiry ??= tooLong(deadlineMs));

  function requireTime(): void {
    if (now() >= endsAtMs) throw expired();
  }

  async function untilDeadline<T>(work: () => Promise<T>): Promise<T> {
    requireTime();
    return withTimeout(Math.max(endsAtMs - now(), 0), work(), () => {
      throw expired();
    });
  }

  return {
    endsAtMs,
    requireTime,
    expired,
    bytesLeft: () => bytesLeft,
    take(noun, count, bytes) {
      if (bytes > bytesLeft) throw tooMuch(noun, count, bytes, limitBytes - bytesLeft, limitBytes);
      bytesLeft -= bytes;
    },
    inOrder: (work) => oneAtATime(() => untilDeadline(work)),
  };
}

function tooLong(deadlineMs: number): AppError {
  const message = `Reading took longer than ${deadlineMs / 1000} seconds. Narrow the filter or request less at once.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

function tooMuch(noun: string, count: number, bytes: number, earlierBytes: number, limitBytes: number): AppError {
  const limit = inMebibytes(limitBytes);
  const earlier = earlierBytes > 0 ? `, after ${inMebibytes(earlierBytes)} of other data` : '';
  const message =
    `The request reads more than ${limit} of stored data: ${count.toLocaleString('en')} ${noun} ` +
    `have ${inMebibytes(bytes)}${earlier}. Request smaller or fewer pages.`;
  return new AppError('TOO_LARGE', message);
}

const inMebibytes = (bytes: number) =>
  `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
