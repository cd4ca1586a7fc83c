import { AppError } from '../lib/errors.js';

/** How many bytes of stored keys and history entries one request may read: eight times the largest response. */
export const readLimitBytes = 16 * 1024 * 1024;

/** How long one request may read. Clients and proxies wait longer. */
export const readDeadlineMs = 5_000;

/** What one request may read, and until when. Background work has none, and reads without a limit. */
export interface ReadBudget {
  /** When the request has to be answered, in milliseconds of `performance.now()`. */
  readonly endsAtMs: number;
  /** @throws {AppError} UNAVAILABLE when the time is up. */
  readonly requireTime: () => void;
  /** The error of a request whose time is up. */
  readonly expired: () => AppError;
  /** How many bytes may still be read. */
  readonly bytesLeft: () => number;
  /**
   * Counts what is about to be read.
   * @throws {AppError} TOO_LARGE when it is more than is left; nothing of it is read then.
   */
  readonly take: (what: string, count: number, bytes: number) => void;
  /** Runs work that takes long, such as a statement that reads many rows, after all such work of the same request. */
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
}

/** A budget for a request that begins now. */
export function createReadBudget(
  deadlineMs = readDeadlineMs,
  limitBytes = readLimitBytes,
  now: () => number = () => performance.now(),
): ReadBudget {
  const endsAtMs = now() + deadlineMs;
  let bytesLeft = limitBytes;
  let last: Promise<unknown> = Promise.resolve();
  let expiry: AppError | undefined;
  // Many fields may fail with it at once.
  const expired = () => (expiry ??= tooLong(deadlineMs));
  return {
    endsAtMs,
    requireTime() {
      if (now() >= endsAtMs) throw expired();
    },
    expired,
    bytesLeft: () => bytesLeft,
    take(what, count, bytes) {
      if (bytes > bytesLeft) throw tooMuch(what, count, bytes, limitBytes);
      bytesLeft -= bytes;
    },
    inOrder(work) {
      const done = last.then(work, work);
      last = done;
      return done;
    },
  };
}

function tooLong(deadlineMs: number): AppError {
  const message = `Reading took longer than ${deadlineMs / 1000} seconds. Narrow the filter or ask for less at once.`;
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

function tooMuch(what: string, count: number, bytes: number, limitBytes: number): AppError {
  const limit = inMebibytes(limitBytes);
  const message =
    `The request reads more than ${limit} of stored data: ${count.toLocaleString('en')} ${what} ` +
    `have ${inMebibytes(bytes)}. Ask for smaller pages or for fewer of them.`;
  return new AppError('TOO_LARGE', message);
}

const inMebibytes = (bytes: number) =>
  `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
