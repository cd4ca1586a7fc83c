/** How a client may interpret a response. */
export type Outcome =
  /** Acknowledged: it must be there, now and ever after. */
  | 'ok'
  /** Certainly not done: rejected, or not sent. It must not be there. */
  | 'rejected'
  /** 5xx, a broken connection, no response in time: it may be there, but only as a whole. */
  | 'maybe';

/** A change that a client requests. */
export interface Operation {
  readonly kind: 'update' | 'create' | 'consume';
  readonly api: 'rest' | 'graphql';
  readonly keyID: string;
  /** In every field of the definition that can contain it; unique among the operations on the key. */
  readonly mark: string;
  /** How much of the quota a consumption takes. */
  readonly amount: number;
  readonly expectedVersion?: number | undefined;
  /** Whether an update resets the quota as well. Only one client at a time resets or consumes such a quota. */
  readonly isReset?: boolean;
}

/** The client's own record of an operation, kept where no fault of the service reaches it. */
export interface Entry extends Operation {
  readonly outcome: Outcome;
  /** The version in the response. */
  readonly version?: number | undefined;
  readonly requestID?: string | undefined;
  /** What came back, for people. */
  readonly response: string;
  /** Why the response is invalid, independently of the content of the database. */
  readonly flaw?: string | undefined;
  /** When the request was sent and its response received, in the client's milliseconds. */
  readonly sent: number;
  readonly completed: number;
}

export function countOf(entries: readonly Entry[], outcome: Outcome): number {
  return entries.filter((entry) => entry.outcome === outcome).length;
}
