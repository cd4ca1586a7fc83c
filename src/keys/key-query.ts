import type { KeyState, KeyVersion, StoredKey } from './key.js';

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
  KEY_HASH: 'By hash of the key identifier: the cheapest order for nearly all filters.',
  ALIAS: 'By alias, in byte order; keys without an alias first.',
  LAST_UPDATED: 'By the last update, oldest first.',
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
