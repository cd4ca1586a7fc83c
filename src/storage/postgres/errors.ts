import { DatabaseError } from 'pg';
import { AppError } from '../../lib/errors.js';

/**
 * Classifies an error of the server or of its connection. After `permanent` and `retryable` nothing has been written;
 * after `connectionLost` a statement that was sent may have been executed.
 */
export type ErrorClass = 'permanent' | 'retryable' | 'connectionLost';

/** Serialization failures and deadlocks: the server has aborted this transaction, and a retry may succeed. */
const conflicts: ReadonlySet<string> = new Set(['40001', '40P01']);

/**
 * Whether a statement failed because another process has added a column to its table since it was prepared on this
 * connection. A new connection prepares it again.
 */
export function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}

/** Undefined for an error that does not come from the database. */
export function classifyForRetry(error: unknown): ErrorClass | undefined {
  if (error instanceof AppError) return undefined;
  // A connection ends with FATAL, possibly after the commit of the statement.
  if (error instanceof DatabaseError && error.severity === 'ERROR') {
    return conflicts.has(error.code ?? '') || isStalePlan(error) ? 'retryable' : 'permanent';
  }
  return error instanceof DatabaseError || (error instanceof Error && isOfConnection(error))
    ? 'connectionLost'
    : undefined;
}

/** Whether the connection was lost at once, and not after a timeout of the client. */
export function isClosedConnection(error: unknown): boolean {
  return classifyForRetry(error) === 'connectionLost' && error instanceof Error && !/timeout/i.test(error.message);
}

/** Errors of sockets and name resolution have a code; errors of the driver have only a message. */
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

/** The error for the caller when nothing was written. Its cause is for the log. */
export function unwritten(error: unknown): unknown {
  const errorClass = classifyForRetry(error);
  if (errorClass === undefined) return error;
  if (errorClass === 'connectionLost')
    return unavailableError('Storage cannot be reached; nothing was written.', 2, error);
  if (errorClass === 'retryable') return unavailableError('Storage is busy; nothing was written.', 1, error);
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  const [message, seconds] = permanentErrors[code] ?? permanentErrors[code.slice(0, 2)] ?? [];
  return message === undefined
    ? new AppError('INTERNAL', 'Storage rejected a statement.', { cause: forLog(error) })
    : unavailableError(`${message}; nothing was written.`, seconds, error);
}

/** The error for the caller when a statement was sent and no response came. */
export function unknownOutcome(error: unknown): AppError {
  const message = 'Storage failed, and it is not known whether this was written: read before you try again.';
  return unavailableError(message, undefined, error);
}

/** Whether all connections were in use; the server may be healthy. */
export function isPoolExhausted(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying to connect');
}

/** The error for the caller when no connection became free in time. */
export function noConnection(error: unknown): unknown {
  return isPoolExhausted(error)
    ? unavailableError('Storage is busy; nothing was written.', 1, error)
    : unwritten(error);
}

/** By the error code of the server or its class (the first two characters), with the seconds until a retry. */
const permanentErrors: Readonly<Record<string, readonly [message: string, seconds: number]>> = {
  // Statement timeout, lock timeout.
  '57014': ['Storage took too long', 2],
  '55P03': ['Storage is busy', 1],
  '25006': ['Storage is read-only', 60],
  '53100': ['Storage is full', 60],
  '53': ['Storage is short of resources', 5],
};

function unavailableError(message: string, retryAfterSeconds: number | undefined, cause: unknown): AppError {
  return new AppError('UNAVAILABLE', message, {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    cause: forLog(cause),
  });
}

/**
 * An error that may be logged. Errors of the server repeat the rejected row, and errors of the driver may contain the
 * connection with its password.
 */
export function forLog(error: unknown): Error {
  if (error instanceof AggregateError) return forLog(error.errors[0]);
  if (!(error instanceof Error)) return new Error('The database failed for an unknown reason.');
  const code = (error as { code?: unknown }).code;
  return new Error(typeof code === 'string' ? `${error.message} (${code})` : error.message);
}
