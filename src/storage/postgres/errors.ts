import { DatabaseError } from 'pg';
import { AppError } from '../../lib/errors.js';

/**
 * What an error of the server or of the way to it means. After `refused` and `again` nothing has been written; after
 * `lost` a statement that was sent may have been carried out.
 */
export type ErrorClass = 'refused' | 'again' | 'lost';

/** Two transactions were in each other's way, and the server gave this one up: it may well succeed the next time. */
const conflicts: ReadonlySet<string> = new Set(['40001', '40P01']);

/**
 * Whether a statement failed because another process has added a column to its table since it was prepared on this
 * connection. A new connection prepares it again.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

/** Undefined for an error that is not one of the database. */
export function classifyError(error: unknown): ErrorClass | undefined {
  if (error instanceof AppError) return undefined;
  // The end of a connection is told as FATAL, at any moment of a statement, the one after its commit included.
  if (error instanceof DatabaseError && error.severity === 'ERROR') {
    return conflicts.has(error.code ?? '') || isStalePlan(error) ? 'again' : 'refused';
  }
  return error instanceof DatabaseError || (error instanceof Error && isOfConnection(error)) ? 'lost' : undefined;
}

/** Node's errors of sockets and names have a code; the driver's own have nothing but their words. */
function isOfConnection(error: Error): boolean {
  if (error instanceof AggregateError) return true;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return (
    /^(E[A-Z]+|ERR_(SSL|TLS|STREAM|SOCKET)_\w+)$/.test(code) ||
    /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout e|The server does not support SSL|Cannot use a pool)/i.test(
      error.message,
    )
  );
}

/** What others are told where nothing was written. `error` is for the log. */
export function unwritten(error: unknown): unknown {
  const trouble = classifyError(error);
  if (trouble === undefined) return error;
  if (trouble === 'lost') return unavailable('Storage cannot be reached; nothing was written.', 2, error);
  if (trouble === 'again') return unavailable('Storage is busy; nothing was written.', 1, error);
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  const [message, seconds] = refusals[code] ?? refusals[code.slice(0, 2)] ?? [];
  return message === undefined
    ? new AppError('INTERNAL', 'Storage refused a statement.', { cause: forLog(error) })
    : unavailable(`${message}; nothing was written.`, seconds, error);
}

/** What others are told where a statement was sent and no answer came. */
export function unknownOutcome(error: unknown): AppError {
  const message = 'Storage failed, and it is not known whether this was written: read before you try again.';
  return unavailable(message, undefined, error);
}

/** What others are told where all connections are in use for long. */
export function noConnection(error: unknown): unknown {
  const isExhausted = error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect');
  return isExhausted ? unavailable('Storage is busy; nothing was written.', 1, error) : unwritten(error);
}

/** By the code of the server's error, or the class that it begins with; and in how many seconds to try again. */
const refusals: Readonly<Record<string, readonly [message: string, seconds: number]>> = {
  // A statement that took too long was stopped, and a lock that was not to be had.
  '57014': ['Storage took too long', 2],
  '55P03': ['Storage is busy', 1],
  '25006': ['Storage is read-only', 60],
  '53100': ['Storage is full', 60],
  '53': ['Storage is short of resources', 5],
};

function unavailable(message: string, retryAfterSeconds: number | undefined, cause: unknown): AppError {
  return new AppError('UNAVAILABLE', message, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: forLog(cause),
  });
}

/**
 * An error as it may be written to a log. The server's own repeats the row that it refused, and the driver's may hold
 * the connection, password and all.
 */
export function forLog(error: unknown): Error {
  if (error instanceof AggregateError) return forLog(error.errors[0]);
  if (!(error instanceof Error)) return new Error('The database failed for an unknown reason.');
  const code = (error as { code?: unknown }).code;
  return new Error(typeof code === 'string' ? `${error.message} (${code})` : error.message);
}
