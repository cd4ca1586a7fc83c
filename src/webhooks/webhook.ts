import { AppError } from '../lib/errors.js';

/** A receiver of change events. Its URL may contain a token and is sealed like its secrets. */
export interface Webhook {
  readonly id: string;
  readonly label: string;
  /** Only events of this organisation are sent; undefined: events of all organisations. */
  readonly orgID: string | undefined;
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

/** A key with a failed event. Later events of the key wait for it, so that each key's events arrive in order. */
export interface RetryState {
  readonly keyHash: string;
  /** Version of the event to deliver next. */
  readonly nextVersion: number;
  /** Version of the newest event that waits. */
  readonly lastVersion: number;
  /** Attempts made for the next event. */
  readonly attempts: number;
  /** Time of the next attempt, in Unix milliseconds. */
  readonly dueMs: number;
  /** Result of the last attempt. Contains no text from the receiver. */
  readonly lastError: string;
}

/** An event whose attempts are used up. A replay reads its content from the key's history again. */
export interface DeadLetter {
  readonly eventID: string;
  readonly webhookID: string;
  readonly keyHash: string;
  readonly version: number;
  readonly diedAt: Date;
  readonly attempts: number;
  readonly lastError: string;
  /** Time of the next replay attempt, in Unix milliseconds; undefined if no replay was requested. */
  readonly dueMs: number | undefined;
}

/** A webhook whose lease this process holds, so that it alone delivers. */
export interface LeasedWebhook {
  readonly webhook: Webhook;
  /** Position in the change feed behind all events that are delivered, retried or dead letters. */
  readonly cursor: string;
  /** Remaining lease duration, counted from the start of the call that acquired it. */
  readonly remainingMs: number;
}

/** The leases of one process. */
export interface Leases {
  readonly held: readonly LeasedWebhook[];
  /** Identifiers of the webhooks whose lease this process has to release, because a command has changed them. */
  readonly recalled: readonly string[];
  /** Identifiers of the webhooks whose row fails its integrity check. Nothing is delivered for them. */
  readonly damaged: readonly string[];
}

/** Results of deliveries, written in one transaction. */
export interface DeliveryResults {
  readonly cursor?: string | undefined;
  readonly failing?: readonly RetryState[];
  /** Hashes of keys without waiting events. */
  readonly done?: readonly string[];
  readonly dead?: readonly DeadLetter[];
  /** Dead letters whose replay failed. Not written when they were discarded meanwhile. */
  readonly replayFailed?: readonly DeadLetter[];
  /** Identifiers of dead letters that a replay delivered. */
  readonly redriven?: readonly string[];
}

/** Counts of waiting and dead deliveries of a webhook. */
export interface DeliveryStats {
  readonly webhookID: string;
  readonly retryingKeys: number;
  readonly deadLetters: number;
}

/** Selects one dead letter, or all of a webhook. */
export interface DeadLetterFilter {
  readonly webhookID: string;
  readonly eventID?: string | undefined;
}

/** Stores webhooks and the state of their deliveries. */
export interface WebhookStore {
  /**
   * Adds a webhook that receives the events after the cursor.
   *
   * @throws {AppError} CONFLICT at the maximum number of webhooks.
   */
  add(webhook: Webhook, cursor: string): Promise<void>;
  /** Returns the webhooks whose row passes its integrity check; `damaged` returns the others. */
  list(): Promise<Webhook[]>;
  /**
   * Reads, applies and writes in one transaction, which also recalls the lease; undefined if there is none. `change` may
   * run again.
   */
  change(id: string, change: (webhook: Webhook) => Webhook): Promise<Webhook | undefined>;
  /** Removes the webhook and the state of its deliveries, and recalls the lease. False if it does not exist. */
  remove(id: string): Promise<boolean>;
  /** Whether a process may still act on the state before the last change of the webhook. */
  isRecalled(id: string): Promise<boolean>;
  /** Returns the identifiers of the webhooks whose row fails its integrity check. */
  damaged(): Promise<string[]>;
  deliveryStats(): Promise<DeliveryStats[]>;
  /** Returns the selected dead letters, oldest first. */
  deadLetters(query: DeadLetterFilter, limit: number): Promise<DeadLetter[]>;
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
  retryStates(webhookID: string): Promise<RetryState[]>;
  /** Returns the dead letters whose replay is due. */
  dueReplays(webhookID: string, nowMs: number, limit: number): Promise<DeadLetter[]>;
  /** Writes results. Returns false, with nothing written, if the holder has lost the lease. A recalled lease is held until it ends. */
  recordResults(holder: string, webhookID: string, results: DeliveryResults): Promise<boolean>;
}

/** Maximum number of webhooks. Each has a delivery worker with its own connections. */
export const maxWebhooks = 50;

/** Creates the CONFLICT error at the maximum number of webhooks. */
export function tooManyWebhooks(): AppError {
  return new AppError('CONFLICT', `There are ${maxWebhooks} webhooks already, which is the maximum.`);
}
