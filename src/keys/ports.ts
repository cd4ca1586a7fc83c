import type { PolicyStore } from './access/policy-store.js';
import type { ChangeFeed } from './change-feed.js';
import type { ProposalStep } from './proposals/proposal.js';
import type { ProposalStore } from './proposals/proposal-store.js';
import type { RequestCodec } from './proposals/request.js';
import type { GatewayStore } from './gateway-store.js';
import type { SecretProtectionDeps } from './protect-secrets.js';
import type { ConsumeQuota, ExternalCounters, OrgCounter } from './quota/external-counters.js';
import type { KeyNotice, NewNotice, QuotaNotices } from './notices.js';
import type { ReadBudget } from './read-budget.js';
import type { Receipt, ReceiptCodec, ReceiptStore } from './receipt.js';
import type { Actor, Principal, StoredKey, KeyRevision } from './key.js';
import type { Definition } from './definition/normalize.js';
import type { QuotaChange } from './quota/quota-change.js';
import type { NoteUse, UseStore } from './use/use.js';
import type { KeyQuery, KeyPage, KeyFilter, HistoryRange, HistoryRequest, NameQuery } from './key-query.js';

/** The principal of one call, with the limits of its request. */
export interface CallContext extends Principal, Actor {
  readonly requestID: string;
  /** Absent if there is no time limit. */
  readonly deadline?: ChangeDeadline;
  readonly reads?: ReadBudget;
}

/** An attempt to change or to deliver keys, and its outcome. The history has the changes only; this includes rejected attempts. */
export interface AuditEvent {
  /** Default: `change`. */
  readonly event?: 'change' | 'delivery' | undefined;
  /** The name of the operation, the same in both APIs. */
  readonly operation: string;
  readonly requestID: string;
  /** Undefined if the request has no valid credential. */
  readonly principal: (Principal & Actor) | undefined;
  /** Undefined if the key has no valid identifier, or none yet. */
  readonly keyHash: string | undefined;
  /** The credential that it was for; undefined for an attempt that is not about one. */
  readonly credentialID?: string | undefined;
  /** The webhook that it was for; undefined for an attempt that is not about one. */
  readonly webhookID?: string | undefined;
  readonly outcome: AcceptedAttempt | RejectedAttempt;
}

/** The outcome of an attempt that succeeded. */
export interface AcceptedAttempt {
  readonly orgID?: string | undefined;
  readonly version?: number;
  /** False if the attempt left the key as it was. */
  readonly isChanged?: boolean;
  /** Whether the attempt is part of gateway traffic, and so frequent. */
  readonly isTraffic?: boolean;
  /** The gateway of an acknowledgement. */
  readonly gateway?: string;
  /** The credential that was issued, rotated or revoked, without its secret. */
  readonly credential?: Readonly<Record<string, string | undefined>>;
  /** The webhook that was changed or tested, without its secret and the path of its URL. */
  readonly webhook?: Readonly<Record<string, string | undefined>>;
  /** The keys that were delivered. */
  readonly delivered?: DeliveredRange;
}

/** The keys that one read has delivered. */
export interface DeliveredRange {
  readonly keys: number;
  readonly unreadable?: number;
  /** The hashes of the first and the last key; undefined if there was none. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
}

interface RejectedAttempt {
  readonly error: unknown;
}

/** Records an attempt. Must not throw. */
export type AuditLog = (attempt: AuditEvent) => void;

/** The dependencies of the domain. */
export interface Ports extends SecretProtectionDeps {
  readonly store: KeyStore;
  /** Absent when the counters are in the rows of their keys. */
  readonly externalCounters?: ExternalCounters | undefined;
  readonly feed: ChangeFeed;
  readonly policies: PolicyStore;
  readonly uses: UseStore;
  readonly proposals: ProposalStore;
  readonly proposalRequests: RequestCodec;
  readonly gateways: GatewayStore;
  /** Returns why a credential is not trusted any more; undefined if it is, or if nothing is known of it. */
  readonly whyNotTrusted: (credentialID: string) => Promise<'revoked' | 'expired' | undefined>;
  /** Notes the requests of gateways. Absent in commands, which serve none. */
  readonly noteUse?: NoteUse | undefined;
  readonly now: () => Date;
  /** Called before each piece of longer work. If this request has had its time, resolves after other requests. */
  readonly nextSlice: () => Promise<void> | undefined;
  /** Returns the hash of a key identifier in lower-case hex. Deterministic. */
  readonly hashKeyID: (keyID: string) => string;
  /** Returns 32 random hex digits and the 8 of their checksum. */
  readonly randomHex: () => string;
  /** Returns the identity of a new key: 32 random hex digits. */
  readonly newIdentity: () => string;
  readonly receipts: ReceiptCodec;
  /** The inverse of `seal`. */
  readonly open: (sealed: Uint8Array, aad: string) => string;
  /** Absent where no requests are counted. */
  readonly quotaNotices?: QuotaNotices | undefined;
  /** How long a deleted key can be restored, in milliseconds. */
  readonly restoreWindowMs: number;
  /** Receives every attempt to change or to deliver keys. */
  readonly audit?: AuditLog;
  /** Logs an INTERNAL error that does not fail the whole response. */
  readonly reportError?: (error: unknown, requestID: string) => void;
}

/** One change of a key, written in one transaction. */
export interface KeyTransition {
  readonly next: StoredKey;
  readonly revision: KeyRevision;
  /** The outbox entry for an external counter. */
  readonly quotaChange?: QuotaChange | undefined;
  /** The result, for a request with an idempotency key. */
  readonly receipt?: Receipt | undefined;
  /** The steps of the proposal that makes the change, with its end. If it has ended before, nothing is written. */
  readonly steps?: readonly ProposalStep[] | undefined;
}

/**
 * The store of keys. A promise of a write resolves after the write is durable. Errors are `AppError`s: UNAVAILABLE can be
 * retried; INTERNAL means that a row failed its integrity check, and unverified data is never returned. Reads with a budget
 * throw UNAVAILABLE when its time is up, and TOO_LARGE when they read more than is left of it.
 */
export interface KeyStore extends ReceiptStore {
  /**
   * Returns the key, even if it is deleted and not yet purged. With `orgID`, a key of another organization is neither read
   * nor verified, so that the response time does not reveal that it exists.
   */
  find(keyHash: string, orgID?: string): Promise<StoredKey | undefined>;
  /** Returns the key as it was read last, if it is in memory. It may have changed since, or be another organization's. */
  recent(keyHash: string): StoredKey | undefined;
  /**
   * Returns the own hashes of the keys that have identifiers with these hashes, as far as they were rotated. Not verified:
   * the key that is found says which identifiers it has. `orgID` as for `find`.
   */
  namesOf(keyHashes: readonly string[], orgID?: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Passes the next keys that expire up to a time, in the order of expiry, in one short transaction: those after the keys that
   * any process has passed for this stage. Records the notices that `noticeOf` returns, each once. Other work runs between two calls. A stage begins at the time
   * of its first call. If its position is later than now, because the clock was set back, it continues at the present time.
   */
  passExpiring(stage: ExpiryStage, noticeOf: (stored: StoredKey) => NewNotice | undefined): Promise<PassedKeys>;
  /** Records notices that are not recorded yet, in one short transaction. Returns how many. */
  addNotices(notices: readonly NewNotice[]): Promise<number>;
  /** Returns a notice; undefined if there is none, or none any more. @throws {AppError} INTERNAL when it fails its integrity check. */
  notice(id: string): Promise<KeyNotice | undefined>;
  /** Returns the newest notices about each of these keys, newest first, or an error, with one query. */
  noticesOf(keys: readonly Pick<StoredKey, 'keyHash' | 'identity'>[], limit: number): Promise<(KeyNotice[] | Error)[]>;
  /** Removes notices from before this time. Returns how many. */
  purgeNotices(before: Date): Promise<number>;
  /** Yields the own hashes of the keys whose previous identifiers retire up to this time, in pages. Deleted keys are left out. */
  retiring(upTo: Date): AsyncIterable<readonly string[]>;
  /**
   * Yields the keys whose previous identifiers may retire before their time at this time, each with the hash of that
   * identifier: the new one was used, and it was silent for as long as its rotation says. In pages, without deleted keys.
   */
  silent(at: Date): AsyncIterable<readonly { readonly keyHash: string; readonly hash: string }[]>;
  /** Returns the keys of these hashes in one query, without order. Other parameters as for `find`. */
  findMany(keyHashes: readonly string[], reads?: ReadBudget, orgID?: string): Promise<StoredKey[]>;
  /**
   * Returns a page of keys in order. The last page costs as much as the first. A key whose row fails its integrity check does
   * not fail the page.
   */
  list(query: KeyQuery, reads?: ReadBudget): Promise<KeyPage>;
  /** Returns the page of each of these organizations, in their order, with one query. */
  listOfOrgs(orgIDs: readonly string[], query: KeyQuery, reads?: ReadBudget): Promise<KeyPage[]>;
  count(filter: KeyFilter, now: Date, reads?: ReadBudget): Promise<number>;
  /** Returns the count of each of these organizations, in their order, with one query. */
  countOfOrgs(orgIDs: readonly string[], filter: KeyFilter, now: Date, reads?: ReadBudget): Promise<number[]>;
  /** Returns the organizations that own keys which are not deleted. */
  organizations(query: NameQuery, reads?: ReadBudget): Promise<string[]>;
  /** Returns the tags of the keys of each of these organizations, in their order, with one query. Deleted keys do not count. */
  tagsOfOrgs(orgIDs: readonly string[], query: NameQuery, reads?: ReadBudget): Promise<string[][]>;
  /**
   * Reads, changes and writes a key in one transaction, and returns what was written. `change` is pure and synchronous,
   * because it may be called again. If it throws, or returns undefined to leave the key as it is, nothing is written.
   * `orgID` as for `find`.
   */
  update(
    keyHash: string,
    change: (stored: StoredKey | undefined) => KeyTransition | undefined,
    orgID?: string,
  ): Promise<KeyTransition | undefined>;
  /** Changes the counter in the row of a key. */
  consume: ConsumeQuota;
  /** Reads the counters in the rows of all keys of these organizations that are not deleted. Other work runs between the pages. */
  counters(orgIDs: readonly string[], reads?: ReadBudget): AsyncIterable<readonly OrgCounter[]>;
  /** Adds new keys in one transaction. Existing keys stay unchanged. Returns for each key whether it was added. */
  add(keys: readonly KeyTransition[]): Promise<boolean[]>;
  /** Seals the secrets of a key again, without a new version or history entry. */
  reseal(keyHash: string, change: (stored: StoredKey) => StoredKey): Promise<void>;
  /** Scans every key, ordered by hash, in pages so that writers are not blocked. Damaged keys do not end the scan. */
  all(): AsyncIterable<ScannedKey>;
  /**
   * Removes a key whose row fails the integrity check or is missing, with its history. No other operation can change such a
   * key, and until then its hash cannot be used again. Intact keys are not removed.
   */
  discard(keyHash: string): Promise<DiscardOutcome>;
  /**
   * Returns the history of a key, or a range of it, oldest entry first.
   *
   * @throws {AppError} NOT_FOUND when `asOf` names a key that has been purged since it was read.
   */
  historyOf(keyHash: string, range?: HistoryRange, reads?: ReadBudget): Promise<KeyRevision[]>;
  /**
   * Returns what `historyOf` returns for each of these requests, with two queries unless entries are large. A history that
   * cannot be read is an error in its place.
   */
  historiesOf(requests: readonly HistoryRequest[], reads?: ReadBudget): Promise<(KeyRevision[] | Error)[]>;
  /** Returns the definition of a version, without secrets; undefined if there is no such version. */
  definitionAt(keyHash: string, version: number): Promise<Definition | undefined>;
  /** Removes keys deleted before this time, with their history, and records a notice of each. Returns how many. */
  purge(deletedBefore: Date, at?: Date): Promise<number>;
  /** Verifies every key and its history, ordered by hash. Reports damaged keys instead of throwing. */
  verifyIntegrity(): AsyncIterable<IntegrityReport>;
}

/** The keys that expire within so many days. */
export interface ExpiryStage {
  readonly name: string;
  /** Keys that expire up to this Unix second are counted and passed without a notice: their notices are late. */
  readonly earliest: bigint;
  /** Unix seconds. */
  readonly upTo: bigint;
}

/** What passing keys has recorded. */
export interface PassedKeys {
  readonly recorded: number;
  /** How many keys were passed without a notice, up to 10,000. */
  readonly late: number;
  /** Keys whose rows fail the integrity check. They are passed without a notice. */
  readonly damaged: number;
  /** Whether more keys may be due. */
  readonly hasMore: boolean;
}

/** `intact`: the key passes the integrity check and was not removed. `absent`: there is no key with this hash. */
export type DiscardOutcome = 'discarded' | 'intact' | 'absent';

/** A key in a scan. */
export interface ScannedKey {
  readonly keyHash: string;
  /** Undefined if its row fails the integrity check. */
  readonly key: StoredKey | undefined;
}

/** The result of verifying one key. */
export interface IntegrityReport {
  readonly keyHash: string;
  /** Whether there is a key row; false if there is only a history. */
  readonly exists: boolean;
  /** Undefined if the row fails the integrity check. Its history and index are not verified then. */
  readonly key: StoredKey | undefined;
  /** Whether the history is complete, passes the integrity check and ends with the current definition. */
  readonly isHistoryIntact: boolean;
  /** Whether the index has all tags, policies and APIs of the key. */
  readonly isIndexed: boolean;
}

/** The time limit of one change. */
export interface ChangeDeadline {
  /**
   * Call before expensive work.
   *
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly throwIfExpired: () => void;
  /**
   * Call inside the transaction before it writes. After that, the change is completed even if the time is up.
   *
   * @throws {AppError} UNAVAILABLE when the time is up.
   */
  readonly markCommitting: () => void;
  /** Calls `listener` when the time is up. Returns a function that removes the listener. */
  readonly onExpire: (listener: () => void) => () => void;
}
