import type { QuotaState, StoredKey } from '../key.js';
import type { ReadBudget } from '../read-budget.js';
import type { QuotaCounter } from './quota.js';
import type { QuotaChange } from './quota-change.js';

/** The live counter of a key, with its owner. */
export interface OrgCounter extends QuotaCounter, CounterOrigin {
  readonly orgID: string;
  readonly keyHash: string;
}

/** The initial value of an external counter, and the date that identifies its key. */
export type CounterOrigin = Pick<StoredKey, 'dateCreated' | 'quota'>;

/** A counter that was read: returns its value for this key. */
export type CounterSnapshot = (key: CounterOrigin) => QuotaState;

/** The result of a requested reset. */
export const resetStatuses = {
  APPLIED: 'The live quota was reset: requests are counted from 0.',
  PENDING:
    'The counter could not be reached. The reset is stored with the definition and is applied as soon as possible.',
} as const;

/** One of {@link resetStatuses}. */
export type ResetStatus = keyof typeof resetStatuses;

/** Live counters outside of the store. */
export interface ExternalCounters {
  /**
   * Reads the counters of these keys in one round trip, in their order.
   *
   * @throws {AppError} UNAVAILABLE
   */
  read(keyHashes: readonly string[]): Promise<readonly CounterSnapshot[]>;
  /** Applies the pending changes of the key's counter. Returns PENDING if the counter is unreachable. */
  applyPending(keyHash: string): Promise<ResetStatus>;
}

/**
 * The live counters: in the store, or external and shared by several gateways. `decide` is pure, because it may be called
 * again. Its `next` is durable before the promise resolves.
 */
export interface QuotaManager {
  consume<T>(
    keyHash: string,
    decide: (stored: StoredKey | undefined) => { next: QuotaState | undefined; result: T },
    /** As for `KeyStore.find`. */
    orgID?: string,
  ): Promise<T>;
  /** Reads the counters of all keys of these organisations that are not deleted. Other work runs between the pages. */
  counters(orgIDs: readonly string[], reads?: ReadBudget): AsyncIterable<readonly OrgCounter[]>;
  /** Undefined if the `quota` of a stored key is its live counter. */
  readonly external?: ExternalCounters;
}

/** Returns the keys with their external counters. Without external counters, returns them unchanged. */
export async function withLiveQuotas<Key extends CounterOrigin & { readonly keyHash: string }>(
  { external }: QuotaManager,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  if (!external) return keys;
  const counters = await external.read(keys.map(({ keyHash }) => keyHash));
  return keys.map((key, index) => ({ ...key, quota: counters[index]?.(key) ?? key.quota }));
}

/** The transactional outbox of changes of external counters. */
export interface QuotaOutbox {
  /** Returns the changes of one key, in order. */
  pendingFor(keyHash: string): Promise<QuotaChange[]>;
  /**
   * Returns the changes from before this time, in pages, those of a key in order.
   *
   * @throws {AppError} INTERNAL after the last page, when some changes failed their integrity check.
   */
  pendingBefore(moment: Date): AsyncIterable<readonly QuotaChange[]>;
  /** Removes changes that have been applied. */
  acknowledge(changes: readonly QuotaChange[]): Promise<void>;
}
