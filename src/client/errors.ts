/** The code of an error, for programs. The README describes each code. */
export type KeyfrontErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'INVALID'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  /** There is no response. A change may or may not have been made. */
  | 'UNREACHABLE'
  | 'INTERNAL';

/** One problem with one value. The path followed by the message is a sentence. */
export interface KeyfrontIssue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** The properties of an error besides its code and its message. */
export interface KeyfrontErrorDetails {
  readonly issues?: readonly KeyfrontIssue[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly requestID?: string | undefined;
  readonly path?: readonly (string | number)[] | undefined;
  readonly cause?: unknown;
}

/** An error response of the service, or a request without a response. Its `message` is for people. */
export class KeyfrontError extends Error {
  readonly code: KeyfrontErrorCode;
  /** INVALID: every problem of the input. CONFLICT: the fields that have changed. Otherwise empty. */
  readonly issues: readonly KeyfrontIssue[];
  /** Seconds after which to retry; undefined if a retry does not help. */
  readonly retryAfterSeconds: number | undefined;
  /** Identifies the request in the log of the service. */
  readonly requestID: string | undefined;
  /** The field of the operation that failed; undefined if the operation failed as a whole. */
  readonly path: readonly (string | number)[] | undefined;

  constructor(code: KeyfrontErrorCode, message: string, details: KeyfrontErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'KeyfrontError';
    this.code = code;
    this.issues = details.issues ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestID = details.requestID;
    this.path = details.path;
  }
}
