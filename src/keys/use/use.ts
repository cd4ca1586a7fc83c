import type { ReadBudget } from '../read-budget.js';
import type { StoredKey } from '../key.js';

/** For how many days the use by day is kept. */
export const useDays = 400;

const dayMs = 86_400_000;

/** Requests of one day. */
export interface DayOfUse {
  /** The day in UTC, counted from 1970. */
  readonly day: number;
  readonly allowed: bigint;
  readonly denied: bigint;
}

/** Days from `from` to `to`, both included, counted from 1970. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Requests of one key on one day that are not stored yet. */
export interface KeyUse extends DayOfUse {
  readonly keyHash: string;
  /** Of the key that was used: its hash may be that of another one by the time that this is written. */
  readonly identity: string;
  /** Unix milliseconds. */
  readonly lastUsed: number;
  /** While the key is rotated: when its identifiers with these hashes were last used, in Unix milliseconds. */
  readonly identifiers?: ReadonlyMap<string, number> | undefined;
}

/** The use of keys. Not signed: nothing decides access by it. */
export interface UseStore {
  /** Adds uses in one transaction. Those of keys that are no longer there are left out. A use never sets a time back. */
  add(uses: readonly KeyUse[]): Promise<void>;
  /** Returns the days of each of these keys that have requests, in order. The keys are known to the caller. */
  ofKeys(keys: readonly StoredKey[], range: DayRange, reads?: ReadBudget): Promise<DayOfUse[][]>;
  /** Returns the days of each of these organizations that have requests, in order. */
  ofOrgs(orgIDs: readonly string[], range: DayRange, reads?: ReadBudget): Promise<DayOfUse[][]>;
  /** Removes the days before this one. Returns how many rows. */
  purge(before: number): Promise<number>;
}

/** A request with a key, as it is noted. */
export interface NotedRequest {
  /** The hash that named the key. */
  readonly hash: string;
  /** The number of requests that it stands for; 0 for one that only asks. */
  readonly amount: bigint;
  readonly isAllowed: boolean;
}

/** Notes a request with a key. Never throws, and writes nothing. */
export type NoteUse = (key: StoredKey, request: NotedRequest) => void;

/** The day of a time, counted from 1970. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

/** A day as 2026-01-31. */
export function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** Reads a day such as 2026-01-31; undefined for any other text. */
export function dayFromText(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // Date.parse accepts 2026-02-31.
  return Number.isNaN(ms) || dayText(dayOf(ms)) !== text ? undefined : dayOf(ms);
}
