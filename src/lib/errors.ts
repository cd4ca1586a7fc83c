/** Everything that can go wrong in front of a caller. Each face has one table with a row for every code. */
export const errorCodes = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'INVALID',
  'NOT_FOUND',
  'CONFLICT',
  'TOO_LARGE',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'INTERNAL',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Where a value stands inside what the caller sent: member names and list positions, outermost first. */
export type Path = readonly (string | number)[];

/** One problem of one value: a stable `code` to act on, and a `message` that never repeats the value. */
export interface Issue {
  readonly path: Path;
  readonly code: string;
  readonly message: string;
}

interface Details {
  /** Every problem found, where the request's content is at fault. */
  readonly issues?: readonly Issue[];
  /** After how many seconds a new attempt makes sense. */
  readonly retryAfterSeconds?: number;
  /** The inner story. It goes to the log and to no caller. */
  readonly cause?: unknown;
}

/** The one error that faces understand: `message` and `issues` are public, `cause` is not. */
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

/** The code that an error has in front of a caller: what is not ours is INTERNAL. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'INTERNAL';
}

/** A path as people write it: `accessRights[2].limit.quotaMax`. Odd names are quoted, and cut short. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w-]{1,64}$/.test(step)) return `${text}[${JSON.stringify(step.slice(0, 64))}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
