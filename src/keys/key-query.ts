import type { AppError } from '../lib/errors.js';
import type { KeyState, KeyVersion, StoredKey } from './key.js';

/** A filter of keys. All conditions must match. Deleted keys match only with the state DELETED. Lists are not empty. */
export interface KeyFilter {
  readonly orgID?: string | undefined;
  readonly aliasPrefix?: string | undefined;
  /** Keys whose alias contains this text, in which upper and lower case are equal. */
  readonly aliasContains?: string | undefined;
  /** Keys with one of these hashes: their own, or that of an identifier that is accepted. */
  readonly keyHashes?: readonly string[] | undefined;
  /** Keys with an identifier of one of these hashes that is accepted. */
  readonly identifierHashes?: readonly string[] | undefined;
  readonly tagsAny?: readonly string[] | undefined;
  readonly tagsAll?: readonly string[] | undefined;
  readonly policy?: string | undefined;
  /** Identifier of an API in the access rights. */
  readonly apiID?: string | undefined;
  readonly states?: readonly KeyState[] | undefined;
  /** Keys that expire, and do so before this Unix second. */
  readonly expiresBefore?: bigint | undefined;
  /** Keys updated at this Unix second or later. */
  readonly updatedSince?: bigint | undefined;
  /** Keys that were not used at this Unix millisecond or later, also those that were never used. */
  readonly unusedSince?: bigint | undefined;
}

/** A filter as clients send it: it names keys by their identifiers instead of the hashes of these. */
export interface RequestedFilter extends Omit<KeyFilter, 'identifierHashes'> {
  readonly keyIDs?: readonly string[] | undefined;
}

/** The maximum number of items of each list of a filter. */
export const maxListed = 100;

/** The orders of a list of keys, with their descriptions. */
export const keyOrders = {
  KEY_HASH: 'By hash of the key identifier: the cheapest order for nearly all filters.',
  ALIAS: 'By alias, in byte order; keys without an alias first.',
  LAST_UPDATED: 'By the last update, oldest first.',
  EXPIRES: 'By the time of expiry; keys that never expire first.',
  CREATED: 'By the time of creation in milliseconds, oldest first.',
  LAST_USED:
    'By the last use; keys that were never used first. A key that is used while you page may move to another page.',
} as const;

/** One of {@link keyOrders}. */
export type KeyOrder = keyof typeof keyOrders;

/** The default order of a list: the one that an index supports with this filter. */
export function defaultOrder(filter: KeyFilter): KeyOrder {
  return searchesAlias(filter) ? 'ALIAS' : 'KEY_HASH';
}

/** Whether a filter has a condition of the alias. */
export function searchesAlias({ aliasPrefix = '', aliasContains = '' }: KeyFilter): boolean {
  return aliasPrefix !== '' || aliasContains !== '';
}

/** A position in an ordered list: that of a key. */
export interface KeyPosition {
  readonly value: string | bigint;
  readonly keyHash: string;
}

/** A date of creation in Unix milliseconds, without further digits. */
export function createdMs(dateCreated: string): bigint {
  const ms = Date.parse(dateCreated);
  return BigInt(Number.isNaN(ms) ? 0 : ms);
}

/** The position of a key in a list in this order. */
export function positionOf(
  { keyHash, definition, lastUpdated, dateCreated, lastUsed = 0n }: StoredKey,
  orderBy: KeyOrder,
): KeyPosition {
  const values = {
    KEY_HASH: '',
    ALIAS: definition.alias ?? '',
    LAST_UPDATED: lastUpdated,
    EXPIRES: definition.expires ?? 0n,
    CREATED: createdMs(dateCreated),
    LAST_USED: lastUsed,
  };
  return { value: values[orderBy], keyHash };
}

/** Selects a page of keys. */
export interface KeyQuery {
  readonly filter: KeyFilter;
  readonly orderBy: KeyOrder;
  readonly descending: boolean;
  readonly after?: KeyPosition | undefined;
  readonly before?: KeyPosition | undefined;
  /** Maximum number of keys to return. */
  readonly limit: number;
  /** The time at which states are evaluated. */
  readonly now: Date;
  /** Maximum total length of the definitions in a page, in bytes. A page has at least one key. */
  readonly maxBytes?: number | undefined;
}

/** A key of a page whose row fails its integrity check. */
export interface UnreadableKey {
  /** Its index among all keys of the page. */
  readonly index: number;
  /** Not verified. For cursors only. */
  readonly position: KeyPosition;
  /** INTERNAL. */
  readonly error: AppError;
}

/** Selects a page of names in byte order. */
export interface NameQuery {
  /** Names after this one. */
  readonly after?: string | undefined;
  /** Names before this one. */
  readonly before?: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
}

/** A page of keys in order. */
export interface KeyPage {
  readonly keys: readonly StoredKey[];
  /** The keys that cannot be read, in order; absent if there are none. */
  readonly unreadable?: readonly UnreadableKey[];
  /** Whether the page has fewer keys than `limit` because of `maxBytes`. */
  readonly isCut: boolean;
}

/** A key of a page, or what is known of one that cannot be read. */
export type PageEntry = { readonly key: StoredKey } | Pick<UnreadableKey, 'position' | 'error'>;

/** All keys of a page in their order, those that cannot be read included. */
export function entriesOf({ keys, unreadable = [] }: KeyPage): PageEntry[] {
  const entries: PageEntry[] = keys.map((key) => ({ key }));
  for (const { index, position, error } of unreadable) entries.splice(index, 0, { position, error });
  return entries;
}

/** The position of an entry of a page in this order. */
export function positionOfEntry(entry: PageEntry, orderBy: KeyOrder): KeyPosition {
  return 'key' in entry ? positionOf(entry.key, orderBy) : entry.position;
}

/** A range of a history: the entries whose `versionAfter` is between `after` and `before`, both exclusive. */
export interface HistoryRange {
  readonly after?: number;
  readonly before?: number;
  /** Whether `limit` selects the newest entries. */
  readonly last?: boolean;
  readonly limit?: number;
  /**
   * The key as it was read. Entries of later changes are left out, so that a key and its history are consistent: entries
   * are immutable, and each version has exactly one.
   */
  readonly asOf?: KeyVersion | undefined;
}

/** A range of the history of a key that was read. */
export interface HistoryRequest {
  readonly key: StoredKey;
  readonly range: Omit<HistoryRange, 'asOf'>;
}
