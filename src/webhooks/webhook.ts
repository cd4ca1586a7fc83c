/** A receiver of change events. Its URL may contain a token and is sealed like its secrets. */
export interface Webhook {
  readonly id: string;
  readonly label: string;
  /** Only events of this organization are sent; undefined: events of all organizations. */
  readonly orgID: string | undefined;
  /** Only events of these types are sent; undefined: events of all types. */
  readonly eventTypes: readonly string[] | undefined;
  readonly sealedURL: Uint8Array;
  readonly sealedSecret: Uint8Array;
  /** The replaced secret, which signs beside the current one until `until`. */
  readonly previous: { readonly sealedSecret: Uint8Array; readonly until: Date } | undefined;
  readonly created: Date;
  /** When and why deliveries were paused; undefined if the webhook is active. */
  readonly paused: { readonly at: Date; readonly why: string } | undefined;
}

/** Returns the associated data under which a text of a webhook is sealed. */
export function webhookAAD(id: string, field: 'url' | 'secret'): string {
  return `webhooks|${id}|${field}`;
}

/** The undelivered changes of one key, of which the first is sent next; one undelivered notice; or one event that was given up, a dead letter. */
export interface Delivery {
  readonly state: 'pending' | 'dead';
  readonly keyHash: string;
  /** Identifier of the event of a dead letter or a notice; empty for pending changes. */
  readonly eventID: string;
  /** Version of the event to send next, whose content is read from the key's history; 0 for a notice. */
  readonly version: number;
  /** Version of the newest event; later events of a key wait for earlier ones. A dead letter has one event. */
  readonly lastVersion: number;
  /** Failed attempts for the next event. */
  readonly attempts: number;
  /** Time of the next attempt, in Unix milliseconds; undefined for a dead letter without a requested replay. */
  readonly dueMs: number | undefined;
  /** Time of the last failed attempt. For a dead letter, when it was given up. */
  readonly failedAt: Date | undefined;
  /** Result of the last attempt, without text from the receiver; empty if there was none. */
  readonly lastError: string;
}

/** A retry is of an event that was tried before: a failed event or a replayed dead letter. */
export type DeliveryKind = 'first' | 'retry' | 'any';

/** Consecutive new events of one key. */
export type EventSpan = Pick<Delivery, 'keyHash' | 'version' | 'lastVersion'>;

/** A new notice. It waits for no other event of its key. */
export interface UnsentNotice {
  readonly keyHash: string;
  readonly eventID: string;
}

/** A webhook whose lease this process holds, so that it alone delivers. */
export interface LeasedWebhook {
  readonly webhook: Webhook;
  /** Position in the change feed after all events that have been delivered or have a {@link Delivery}. */
  readonly cursor: string;
  /** Remaining lease duration, counted from the start of the call that acquired it. */
  readonly remainingMs: number;
}

/** All webhooks. */
export interface WebhookList {
  /** The webhooks whose row passes its integrity check. */
  readonly intact: readonly Webhook[];
  /** Identifiers of the others. */
  readonly damaged: readonly string[];
}

/** The leases of one process. */
export interface Leases {
  readonly held: readonly LeasedWebhook[];
  /** Identifiers of the webhooks whose lease this process has to release, because a command has changed them. */
  readonly recalled: readonly string[];
  /** Identifiers of the webhooks whose row fails its integrity check. Nothing is delivered for them. */
  readonly damaged: readonly string[];
}

/**
 * Results of deliveries, written in one transaction. A result is ignored if its delivery was discarded, or replaced because
 * the key was created again after a purge.
 */
export interface DeliveryResults {
  readonly cursor?: string | undefined;
  /** New events up to the cursor, due at `dueMs`. */
  readonly enqueued?: {
    readonly spans: readonly EventSpan[];
    readonly notices?: readonly UnsentNotice[] | undefined;
    readonly dueMs: number;
  };
  /** Its event is delivered or given up: the next event of the key is due at its `dueMs`. */
  readonly advanced?: Delivery;
  /** Its attempt has failed. */
  readonly failed?: Delivery;
  /** Its events were purged. */
  readonly removed?: Delivery;
  readonly dead?: Delivery;
}

/** Counts of failing keys and dead letters of a webhook, each up to {@link maxCounted}. */
export interface DeliveryStats {
  readonly webhookID: string;
  /** Keys whose next event has failed at least once. */
  readonly retryingKeys: number;
  readonly deadLetters: number;
}

/** A count of deliveries ends here, so that it takes a few milliseconds at most. */
export const maxCounted = 10_000;

/** The position of a dead letter in the list of its webhook. */
export interface DeadLetterPosition {
  readonly failedAt: Date;
  readonly eventID: string;
}

/** Throws if the webhook must not be added, where its organization has `count` of them. Pure and synchronous. */
export type PermitWebhook = (count: number) => void;

/**
 * Throws if the webhook must not be changed, whose row names this organization. Pure and synchronous. The row may fail its
 * integrity check.
 */
export type PermitChange = (orgID: string | undefined) => void;

/** Selects one dead letter, or all of a webhook. */
export interface DeadLetterFilter {
  readonly webhookID: string;
  readonly eventID?: string | undefined;
}

/** Stores webhooks and the state of their deliveries. */
export interface WebhookStore {
  /**
   * Adds a webhook that receives the events after the cursor, unless there is one with its ID. Returns the stored one. If
   * `permit` throws, nothing is written.
   *
   * @throws {AppError} CONFLICT at the maximum number of webhooks.
   */
  add(webhook: Webhook, cursor: string, permit?: PermitWebhook): Promise<Webhook>;
  /** Returns the webhooks whose row names this organization; all if it is undefined. The oldest is first. */
  list(orgID?: string): Promise<WebhookList>;
  /**
   * Reads, applies and writes in one transaction, which also recalls the lease; undefined if there is none. `change` may
   * run again. If it or `permit` throws, nothing is written.
   *
   * @throws {AppError} INTERNAL when the row fails its integrity check.
   */
  change(id: string, change: (webhook: Webhook) => Webhook, permit?: PermitChange): Promise<Webhook | undefined>;
  /**
   * Removes the webhook and the state of its deliveries, and recalls the lease. False if it does not exist. If `permit`
   * throws, nothing is removed.
   */
  remove(id: string, permit?: PermitChange): Promise<boolean>;
  /** Whether a process may still act on the state before the last change of the webhook. */
  isRecalled(id: string): Promise<boolean>;
  /** Returns the counts of these webhooks; of all if `ids` is undefined. */
  deliveryStats(ids?: readonly string[]): Promise<DeliveryStats[]>;
  /** Counts the dead letters of a webhook up to `limit`. */
  countDeadLetters(webhookID: string, limit: number): Promise<number>;
  /** Returns the selected dead letters after a position, oldest first. */
  deadLetters(query: DeadLetterFilter, limit: number, after?: DeadLetterPosition): Promise<Delivery[]>;
  /** Schedules the selected dead letters for replay and returns their number. */
  replay(query: DeadLetterFilter, dueMs: number): Promise<number>;
  /** Removes the selected dead letters and returns their number. Recalls the lease if there are any: a replay may be in flight. */
  discard(query: DeadLetterFilter): Promise<number>;
  /**
   * Acquires the leases of all active webhooks that no other process holds, and returns all leases of this owner. A lease
   * with more than half of its duration left is not renewed. The state of a webhook is read after its lease was acquired. A
   * recalled lease is neither renewed nor returned.
   */
  acquireLeases(holder: string, forMs: number): Promise<Leases>;
  releaseLeases(holder: string): Promise<void>;
  /** Whether the lease is the holder's, has time left and was not recalled. */
  hasLease(holder: string, id: string): Promise<boolean>;
  /** Ends a recalled lease: the holder has no attempt in flight and starts none. Other leases are left as they are. */
  releaseRecalled(holder: string, id: string): Promise<void>;
  /** Returns the deliveries of a kind that have a due time, earliest first. */
  nextDeliveries(webhookID: string, limit: number, kind: DeliveryKind): Promise<Delivery[]>;
  /**
   * Makes the deliveries of a kind that are due after `afterMs` due at `dueMs`, in transactions of a few rows, and returns
   * their number. `dueMs` must not be after `afterMs`.
   */
  bringForward(webhookID: string, kind: Exclude<DeliveryKind, 'any'>, afterMs: number, dueMs: number): Promise<number>;
  /** Writes results. Returns false, with nothing written, if the holder has lost the lease. A recalled lease is held until it ends. */
  recordResults(holder: string, webhookID: string, results: DeliveryResults): Promise<boolean>;
}

/** Maximum number of webhooks. Each has a delivery worker with its own connections. */
export const maxWebhooks = 50;
