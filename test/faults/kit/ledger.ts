/** What a client may take an answer for. */
export type Outcome =
  /** Acknowledged: it must be there, now and ever after. */
  | 'ok'
  /** Surely not done: a refusal, or nothing was sent. It must not be there. */
  | 'rejected'
  /** 5xx, a broken connection, no answer in time: it may be there, but only as a whole. */
  | 'maybe';

/** A change that a client asked for. */
export interface Operation {
  readonly kind: 'update' | 'create' | 'consume';
  readonly api: 'rest' | 'graphql';
  readonly keyID: string;
  /** Stands in the definition in every place that has room for it; no other operation on the same key has it. */
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
  /** The version that the answer named. */
  readonly version?: number | undefined;
  readonly requestID?: string | undefined;
  /** What came back, for people. */
  readonly response: string;
  /** What is wrong with the answer in itself, whatever the database holds. */
  readonly wrong?: string | undefined;
  /** When it was sent and when its answer was there, in the client's milliseconds. */
  readonly sent: number;
  readonly completed: number;
}

export function countOf(entries: readonly Entry[], outcome: Outcome): number {
  return entries.filter((entry) => entry.outcome === outcome).length;
}
