import type { FieldChange } from './key-diff.js';
import type { Actor, StoredKey } from './key.js';
import type { Definition } from './definition/normalize.js';
import type { QuotaChange } from './quota/quota-change.js';
import type { ReadBudget } from './read-budget.js';
import type { KeyState } from './state.js';

/** What may be done to a key. */
export const operations = {
  import: 'The key was brought in by the command line.',
  create: 'The key was created.',
  update: 'The definition was replaced.',
  revert: 'The definition of an earlier version was put back.',
  delete: 'The key was deleted.',
  restore: 'The deleted key was put back.',
} as const;

export type Operation = keyof typeof operations;

/** What is remembered of a change, written in the same transaction. */
export interface KeyRevision {
  readonly at: Date;
  readonly keyHash: string;
  readonly orgID: string;
  readonly operation: Operation;
  readonly actor: Actor;
  /** Why, in the words of whoever did it. */
  readonly reason: string | undefined;
  readonly requestID: string;
  /** 0 where the key did not exist before. */
  readonly versionBefore: number;
  readonly versionAfter: number;
  /** What had been used of the quota when it was reset; undefined where it was not, or where that could not be read. */
  readonly quotaUsedBeforeReset: bigint | undefined;
  readonly changes: readonly FieldChange[];
}

export interface Change {
  readonly next: StoredKey;
  readonly audit: KeyRevision;
  /** What is to be done to a counter that stands elsewhere, written in the same transaction. */
  readonly quotaChange?: QuotaChange | undefined;
}

/** Which keys are meant. Every condition that is given must hold; deleted keys count only where they are asked for. */
export interface KeyFilter {
  readonly orgID?: string | undefined;
  readonly aliasPrefix?: string | undefined;
  readonly tag?: string | undefined;
  readonly policy?: string | undefined;
  /** Identifier of an API in the access rights. */
  readonly apiID?: string | undefined;
  readonly state?: KeyState | undefined;
  /** Keys that expire, and do so before this Unix second. */
  readonly expiresBefore?: bigint | undefined;
  /** Keys updated at this Unix second or later. */
  readonly updatedSince?: bigint | undefined;
}

export const keyOrders = {
  KEY_HASH: 'By hash of the key identifier, which is the cheapest order for nearly every filter.',
  ALIAS: 'By alias, byte by byte; keys without one come first.',
  LAST_UPDATED: 'By the last update, the oldest first.',
} as const;

export type KeyOrder = keyof typeof keyOrders;

/** The order in which an index finds the keys of a filter, for a list that is asked for in none. */
export function defaultOrder({ aliasPrefix = '' }: KeyFilter): KeyOrder {
  return aliasPrefix === '' ? 'KEY_HASH' : 'ALIAS';
}

/** A place in an order: between a key and the next. */
export interface Position {
  readonly value: string | bigint;
  readonly keyHash: string;
}

export interface KeyQuery {
  readonly filter: KeyFilter;
  readonly orderBy: KeyOrder;
  readonly descending: boolean;
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
  /** The most keys to answer with. */
  readonly limit: number;
  /** The moment that states are judged at. */
  readonly now: Date;
  /** Cut the page after as many keys as have definitions of this length together; after one at the earliest. */
  readonly maxBytes?: number | undefined;
}

/** A page of keys in order. */
export interface KeyPage {
  readonly keys: readonly StoredKey[];
  /** Whether `maxBytes` has cut keys off that are within `limit`. */
  readonly isCut: boolean;
}

/** Identifies one state of one key: a key that is purged and created again has another `dateCreated`. */
export type KeyVersion = Pick<StoredKey, 'dateCreated' | 'version'>;

/** A part of a history: the entries whose `versionAfter` lies between the two, both excluded. */
export interface HistoryRange {
  readonly after?: number;
  readonly before?: number;
  /** Whether `limit` counts from the newest entry. */
  readonly last?: boolean;
  readonly limit?: number;
  /**
   * The key as the caller has read it. Entries of later changes are left out, so that a key and its history are of one
   * moment: entries are never changed, and each version has exactly one.
   */
  readonly asOf?: KeyVersion | undefined;
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
  update(keyHash: string, change: (stored: StoredKey | undefined) => Change, orgID?: string): Promise<Change>;
  /** Adds new keys in one transaction. A key that exists is left as it is; tells for each whether it was added. */
  add(keys: readonly Change[]): Promise<boolean[]>;
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
  /** Looks at every key and all that is kept of it, ordered by hash; what is damaged is told, and not thrown. */
  inspect(): AsyncIterable<IntegrityReport>;
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
  readonly isThere: boolean;
  /** Undefined where it is not as it was written. What belongs to it is then not looked into. */
  readonly key: StoredKey | undefined;
  /** Whether its history is there, as it was written, and leads to the key. */
  readonly isHistoryWhole: boolean;
  /** Whether it is found by its tags, policies and APIs. */
  readonly isListed: boolean;
}
