import type { QuotaState, StoredKey } from '../key.js';
import type { ReadBudget } from '../read-budget.js';
import type { Counter } from './quota.js';
import type { QuotaChange } from './quota-change.js';

export interface OrgCounter extends Counter, CounterOrigin {
  readonly orgID: string;
  readonly keyHash: string;
}

/** What a counter that stands apart from its key is begun from, and known by. */
export type CounterOrigin = Pick<StoredKey, 'dateCreated' | 'quota'>;

/** A counter that was looked at, as the counter of this key. */
export type CounterSnapshot = (key: CounterOrigin) => QuotaState;

/** The result of a requested reset. */
export const resetStatuses = {
  APPLIED: 'The live quota was reset: requests are counted from 0.',
  PENDING:
    'The counter could not be reached. The reset is stored with the definition and is applied as soon as possible.',
} as const;

export type ResetStatus = keyof typeof resetStatuses;

/** Counters that stand apart from their keys. */
export interface ExternalCounters {
  /** What the counters of these keys say, in their order, with one look at all of them. UNAVAILABLE. */
  read(keyHashes: readonly string[]): Promise<readonly CounterSnapshot[]>;
  /** Carries out what was written of changes of the key's counter; PENDING where that cannot be done now. */
  applyPending(keyHash: string): Promise<ResetStatus>;
}

/**
 * Where live counters stand. A store keeps them beside the definitions; a fleet of gateways may keep them elsewhere.
 * `decide` is pure and may run again; what it returns as `next` is durable before the promise resolves.
 */
export interface QuotaManager {
  consume<T>(
    keyHash: string,
    decide: (stored: StoredKey | undefined) => { next: QuotaState | undefined; result: T },
    /** As for `KeyStore.find`. */
    orgID?: string,
  ): Promise<T>;
  /** The counters of all keys of these organisations, deleted ones left out, in pages between which others get their turn. */
  counters(orgIDs: readonly string[], reads?: ReadBudget): AsyncIterable<readonly OrgCounter[]>;
  /** Undefined where a key's own `quota` is its live counter. */
  readonly external?: ExternalCounters;
}

/** The keys with their counters as they are now, which a key of the store has only where nothing stands apart. */
export async function withLiveQuotas<Key extends CounterOrigin & { readonly keyHash: string }>(
  { external: apart }: QuotaManager,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  if (!apart) return keys;
  const sights = await apart.read(keys.map(({ keyHash }) => keyHash));
  return keys.map((key, index) => ({ ...key, quota: sights[index]?.(key) ?? key.quota }));
}

/** What is to be done to counters, as it was written with the keys. */
export interface QuotaOutbox {
  /** All of one key, in order. */
  pendingFor(keyHash: string): Promise<QuotaChange[]>;
  /**
   * Those from before the moment, each key's in order, a page at a time.
   *
   * @throws {AppError} INTERNAL after the last page, when the integrity check of some failed; these hold up no others.
   */
  pendingBefore(moment: Date): AsyncIterable<readonly QuotaChange[]>;
  /** Takes away what has been carried out. */
  acknowledge(changes: readonly QuotaChange[]): Promise<void>;
}
