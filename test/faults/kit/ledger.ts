/** How a client may interpret a response. */
export type Outcome =
  /** Acknowledged: the change must be stored, from now on. */
  | 'ok'
  /** Rejected, or not sent: the change must not be stored. */
  | 'rejected'
  /** 5xx, a broken connection or a timeout: the change may be stored, but only as a whole. */
  | 'maybe';

/** A change that a client requests. */
export interface Operation {
  readonly kind: 'update' | 'create' | 'consume';
  readonly api: 'rest' | 'graphql';
  readonly keyID: string;
  /** The value of alias, tag and HMAC string in the definition; unique among the operations on the key. */
  readonly mark: string;
  /** The amount that a consumption takes from the quota. */
  readonly amount: number;
  readonly expectedVersion?: number | undefined;
  /** Whether an update also resets the quota. Only one client at a time resets or consumes such a quota. */
  readonly isReset?: boolean;
  /** Whether a consumption is a verification that the mark identifies, so that a repetition is counted once. */
  readonly isRepeatable?: boolean;
}

/** The record of an operation in the client, which no fault of the service affects. */
export interface Entry extends Operation {
  readonly outcome: Outcome;
  /** The version in the response. */
  readonly version?: number | undefined;
  readonly requestID?: string | undefined;
  /** The response, for people. */
  readonly response: string;
  /** The reason why the response is invalid, independently of the content of the database. */
  readonly flaw?: string | undefined;
  /** The times of the request and of its response, in milliseconds of `performance`. */
  readonly sent: number;
  readonly completed: number;
}

export function countOf(entries: readonly Entry[], outcome: Outcome): number {
  return entries.filter((entry) => entry.outcome === outcome).length;
}
