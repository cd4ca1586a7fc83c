import { AppError } from './lib/errors.js';

/** An address that is told of changes. Its URL may hold a token, and is sealed as its secrets are. */
export interface Webhook {
  readonly id: string;
  readonly label: string;
  /** The one organisation whose keys it hears of; undefined for all. */
  readonly orgID: string | undefined;
  readonly sealedURL: Uint8Array;
  readonly sealedSecret: Uint8Array;
  /** The secret that the present one has replaced, for as long as both sign. */
  readonly previous: { readonly sealedSecret: Uint8Array; readonly until: Date } | undefined;
  readonly created: Date;
  /** Since when nothing is sent to it, and why; undefined where it is told of changes. */
  readonly paused: { readonly at: Date; readonly why: string } | undefined;
}

/** Where a text of a webhook stands, to seal it for that place. */
export function webhookPlace(id: string, what: 'url' | 'secret'): string {
  return `webhooks|${id}|${what}`;
}

/** A key of which an event could not be delivered yet: that one, and those after it which wait for it. */
export interface FailingKey {
  readonly keyHash: string;
  /** The version that the event to be delivered next led to. */
  readonly next: number;
  /** The newest version that waits. */
  readonly last: number;
  /** How often the next one has been tried. */
  readonly attempts: number;
  /** When it is tried again, in Unix milliseconds. */
  readonly dueMs: number;
  /** What came of the last attempt, in words of ours. */
  readonly why: string;
}

/** An event that was given up. What it said is read from the key's history again when it is sent once more. */
export interface DeadLetter {
  readonly eventID: string;
  readonly webhookID: string;
  readonly keyHash: string;
  readonly version: number;
  readonly died: Date;
  readonly attempts: number;
  readonly why: string;
  /** When it is tried again, in Unix milliseconds; undefined where nobody has asked for that. */
  readonly dueMs: number | undefined;
}

/** A webhook for which this process delivers, and nobody else. */
export interface HeldWebhook {
  readonly webhook: Webhook;
  /** Behind everything that has been delivered or is kept as failing or dead. */
  readonly cursor: string;
  /** For how long it is held, from the moment on at which that was asked for. */
  readonly leftMs: number;
}

/** The leases of one process. */
export interface Leases {
  readonly held: readonly HeldWebhook[];
  /** Identifiers of the webhooks whose lease this process has to release, because a command has changed them. */
  readonly recalled: readonly string[];
  /** Identifiers of the webhooks whose row fails its integrity check. Nothing is delivered for them. */
  readonly damaged: readonly string[];
}

/** What has become of deliveries, to be written as one. */
export interface Settlement {
  readonly cursor?: string | undefined;
  readonly failing?: readonly FailingKey[];
  /** Hashes of keys of which nothing waits any more. */
  readonly done?: readonly string[];
  readonly dead?: readonly DeadLetter[];
  /** Dead letters whose replay failed. Not written when they were discarded meanwhile. */
  readonly replayFailed?: readonly DeadLetter[];
  /** Dead letters that were delivered after all. */
  readonly revived?: readonly string[];
}

/** How many deliveries of a webhook wait or were given up. */
export interface Standing {
  readonly webhookID: string;
  readonly failingKeys: number;
  readonly deadLetters: number;
}

/** Which dead letters are meant: one, or all of a webhook. */
export interface DeadQuery {
  readonly webhookID: string;
  readonly eventID?: string | undefined;
}

/** Where webhooks are kept, and how far each has come. */
export interface WebhookStore {
  /** Rejects with CONFLICT beyond the most there may be. */
  add(webhook: Webhook, cursor: string): Promise<void>;
  /** Those whose row passes its integrity check; `damaged` returns the others. */
  list(): Promise<Webhook[]>;
  /**
   * Reads, applies and writes in one transaction, which also recalls the lease; undefined if there is none. `change` may
   * run again.
   */
  change(id: string, change: (webhook: Webhook) => Webhook): Promise<Webhook | undefined>;
  /** With all that is kept of its deliveries, and recalls the lease. False if there is none. */
  remove(id: string): Promise<boolean>;
  /** Whether a process may still act on a state of the webhook from before the last change of it. */
  isRecalled(id: string): Promise<boolean>;
  /** Identifiers of those that are not as they were written. */
  damaged(): Promise<string[]>;
  standings(): Promise<Standing[]>;
  /** The oldest first. */
  deadLetters(query: DeadQuery, limit: number): Promise<DeadLetter[]>;
  /** From now on they are tried again. Returns how many. */
  replay(query: DeadQuery, dueMs: number): Promise<number>;
  /** Returns how many there were. If there were any, it also recalls the lease: one of them may be about to be sent. */
  discard(query: DeadQuery): Promise<number>;
  /**
   * Acquires, for so long, the leases of all webhooks that are not paused and that no other process holds, and returns all
   * leases that are held now; a lease with more than half of its time left is not renewed. The state of a webhook is read
   * after its lease was acquired. A recalled lease is neither renewed nor returned.
   */
  hold(holder: string, forMs: number): Promise<Leases>;
  letGo(holder: string): Promise<void>;
  /** Whether the lease is the holder's, has time left and was not recalled. */
  isHeld(holder: string, id: string): Promise<boolean>;
  /** Ends a recalled lease: the holder has no attempt in flight and starts none. Other leases are left as they are. */
  releaseRecalled(holder: string, id: string): Promise<void>;
  failing(webhookID: string): Promise<FailingKey[]>;
  /** Dead letters that are to be tried again by now. */
  replayed(webhookID: string, nowMs: number, limit: number): Promise<DeadLetter[]>;
  /** False if the lease is the holder's no more: nothing was written then. A recalled lease is, until it ends. */
  settle(holder: string, webhookID: string, settlement: Settlement): Promise<boolean>;
}

/** The most webhooks that an installation may have: each is a courier with connections of its own. */
export const mostWebhooks = 50;

export function tooManyWebhooks(): AppError {
  return new AppError('CONFLICT', `There are ${mostWebhooks} webhooks already, which is the most there may be.`);
}
