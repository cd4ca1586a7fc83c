import type { ChangeFeed } from './change-feed.js';
import type { SecretProtectionDeps } from './commands/protect-secrets.js';
import type { QuotaManager } from './quota/quota-manager.js';
import type { ReadBudget } from './read-budget.js';
import type { Principal, StoredKey, KeyRevision } from './key.js';
import type { Definition } from './definition/normalize.js';
import type { QuotaChange } from './quota/quota-change.js';
import type { KeyQuery, KeyPage, KeyFilter, HistoryRange } from './key-query.js';

/** The principal of one call, with the limits of its request. */
export interface CallContext extends Principal {
  readonly requestID: string;
  /** Absent for work without a time limit. */
  readonly deadline?: ChangeDeadline;
  /** What the request may read. */
  readonly reads?: ReadBudget;
}

/** An attempt to change a key and its outcome. The history has the changes only; this includes rejected attempts. */
export interface AuditEvent {
  /** The name of the operation, the same in both APIs. */
  readonly operation: string;
  readonly requestID: string;
  /** Undefined if the request has no valid credential. */
  readonly principal: Principal | undefined;
  /** Undefined if the key has no valid identifier, or none yet. */
  readonly keyHash: string | undefined;
  readonly outcome: AcceptedAttempt | RejectedAttempt;
}

export interface AcceptedAttempt {
  readonly orgID?: string;
  readonly version?: number;
  /** Whether it happens with each request that a gateway admits. */
  readonly isTraffic?: boolean;
}

interface RejectedAttempt {
  readonly error: unknown;
}

/** Called for every attempt. Must not throw. */
export type AuditLog = (attempt: AuditEvent) => void;

/** What the domain needs from the world around it. */
export interface Ports extends SecretProtectionDeps {
  readonly store: KeyStore;
  readonly quotas: QuotaManager;
  readonly feed: ChangeFeed;
  readonly now: () => Date;
  /** Lower-case hex of a key identifier. The same identifier always has the same hash. */
  readonly hashKeyID: (keyID: string) => string;
  /** 32 fresh random hex digits. */
  readonly randomHex: () => string;
  /** The inverse of `seal`. */
  readonly open: (sealed: Uint8Array, place: string) => string;
  /** For how long a deleted key can be restored. */
  readonly restoreWindowMs: number;
  /** Told of every attempt to change a key; of none where it is left out. */
  readonly audit?: AuditLog;
  /** Takes the cause of an INTERNAL error that a response does not fail with, for the log. */
  readonly reportError?: (error: unknown, requestID: string) => void;
}

export interface KeyTransition {
  readonly next: StoredKey;
  readonly revision: KeyRevision;
  /** What is to be done to a counter that stands elsewhere, written in the same transaction. */
  readonly quotaChange?: QuotaChange | undefined;
}

/**
 * Where keys are kept. Every promise settles after the write is durable; a rejected one with an `AppError` of code
 * UNAVAILABLE may be tried again. What is answered is what was written: where storage cannot tell, it rejects with
 * INTERNAL. Reads for a request take its budget: UNAVAILABLE when its time is up, TOO_LARGE when it reads too much.
 */
export interface KeyStore {
  /**
   * The key, also where it is deleted and not yet purged. With `orgID`, another organisation's key is as good as none: it
   * is neither read nor verified, so that the time taken does not show that it exists.
   */
  find(keyHash: string, orgID?: string): Promise<StoredKey | undefined>;
  /** The keys of these hashes as `find` would have them, in no order, in one look. */
  findMany(keyHashes: readonly string[], reads?: ReadBudget, orgID?: string): Promise<StoredKey[]>;
  /** A page of keys in order. Costs as much for the last page as for the first. TOO_LARGE beyond the budget. */
  list(query: KeyQuery, reads?: ReadBudget): Promise<KeyPage>;
  count(filter: KeyFilter, now: Date, reads?: ReadBudget): Promise<number>;
  /**
   * Reads, applies and writes in one transaction. `change` is pure and synchronous: it may run again, and what it throws
   * undoes everything. Returns what was written. `orgID` as for `find`.
   */
  update(
    keyHash: string,
    change: (stored: StoredKey | undefined) => KeyTransition,
    orgID?: string,
  ): Promise<KeyTransition>;
  /** Adds new keys in one transaction. A key that exists is left as it is; tells for each whether it was added. */
  add(keys: readonly KeyTransition[]): Promise<boolean[]>;
  /** Seals the secrets of a key anew. Not a change of the key: no version, no audit entry. */
  reseal(keyHash: string, change: (stored: StoredKey) => StoredKey): Promise<void>;
  /** Every key, ordered by hash, read a page at a time so that writers are not held up. A damaged one ends nothing. */
  all(): AsyncIterable<ScannedKey>;
  /**
   * Removes a key whose row fails the integrity check or is missing, with its history. No other operation can change such a
   * key, and its hash cannot be used again until then. An intact key is left alone.
   */
  discard(keyHash: string): Promise<Discarded>;
  /**
   * The history of a key, or a part of it, the oldest entry first.
   *
   * @throws {AppError} NOT_FOUND when `asOf` names a key that has been purged since it was read.
   */
  historyOf(keyHash: string, range?: HistoryRange, reads?: ReadBudget): Promise<KeyRevision[]>;
  /** The definition that a key had at a version, without secrets; undefined where there was no such version. */
  definitionAt(keyHash: string, version: number): Promise<Definition | undefined>;
  /** Removes keys deleted before the moment, and what was remembered of them. Returns how many. */
  purge(deletedBefore: Date): Promise<number>;
  /** Verifies every key and its history, ordered by hash. Reports damaged keys instead of throwing. */
  verifyIntegrity(): AsyncIterable<IntegrityReport>;
}

/** `intact`: the key passes the integrity check and was not removed. `absent`: nothing is stored under this hash. */
export type Discarded = 'discarded' | 'intact' | 'absent';

/** A key as a scan finds it. */
export interface ScannedKey {
  readonly keyHash: string;
  /** Undefined when its row fails the integrity check. */
  readonly key: StoredKey | undefined;
}

/** What became of a key in storage. */
export interface IntegrityReport {
  readonly keyHash: string;
  /** Whether there is a key, and not merely the history of one. */
  readonly exists: boolean;
  /** Undefined where it is not as it was written. What belongs to it is then not looked into. */
  readonly key: StoredKey | undefined;
  /** Whether its history is there, as it was written, and leads to the key. */
  readonly isHistoryIntact: boolean;
  /** Whether it is found by its tags, policies and APIs. */
  readonly isIndexed: boolean;
}

/** The time limit of one change. */
export interface ChangeDeadline {
  /**
   * Called before work that takes long.
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly throwIfExpired: () => void;
  /**
   * Called inside the transaction, before it writes. From then on the change is completed.
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly markCommitting: () => void;
}
