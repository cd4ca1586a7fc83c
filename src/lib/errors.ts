/** The error codes of the APIs and their meanings. Each API has one table with a row for every code. */
export const errorCodes = {
  UNAUTHENTICATED: 'The request has no valid credential of the required kind.',
  FORBIDDEN: 'The credential is bound to another organization, or does not have the required scope.',
  INVALID: 'The request is not valid; `issues` lists each problem with its path.',
  NOT_FOUND: 'The key does not exist, or the credential cannot access it.',
  CONFLICT: 'The key has changed since the expected version, or already exists.',
  TOO_LARGE: 'The request or the response exceeds its maximum size.',
  RATE_LIMITED: 'Too many invalid credentials, or too many subscriptions of one credential. Retry later.',
  UNAVAILABLE: 'The service is busy or cannot reach its storage. Retry later.',
  INTERNAL: 'An internal error. The log has its cause.',
} as const;

/** One of {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** Returns the text as an error code; undefined if it is none. */
export function toErrorCode(text: unknown): ErrorCode | undefined {
  return typeof text === 'string' && Object.hasOwn(errorCodes, text) ? (text as ErrorCode) : undefined;
}

/** The position of a value in a request: member names and list indexes, outermost first. */
export type Path = readonly (string | number)[];

/** One problem of one value: a stable `code` to act on, and a `message` that never repeats the value. */
export interface Issue {
  readonly path: Path;
  readonly code: string;
  readonly message: string;
}

interface Details {
  /** The problems of an INVALID request. */
  readonly issues?: readonly Issue[];
  /** Seconds after which the client should retry. */
  readonly retryAfterSeconds?: number;
  /** Logged, and never returned to clients. */
  readonly cause?: unknown;
}

/** The error class of the APIs. `message` and `issues` are public, `cause` is not. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The INVALID error of an argument that is not valid; `message` says what was expected. */
export function invalidArgument(argument: string | Path, message: string, code = 'MALFORMED_ARGUMENT'): AppError {
  const path = typeof argument === 'string' ? [argument] : argument;
  return new AppError('INVALID', `\`${pathText(path)}\` ${message}.`, {
    issues: [{ path, code, message }],
  });
}

/** Returns the code of an error for clients: INTERNAL for every error other than AppError. */
export function errorCodeOf(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'INTERNAL';
}

/** Returns a thrown value as an error, for results that may be errors. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.', { cause: thrown });
}

/** Formats a path: `accessRights[2].limit.quotaMax`. Unusual names are quoted and truncated. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (!/^[\w-]{1,64}$/.test(segment)) return `${text}[${JSON.stringify(segment.slice(0, 64))}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}
