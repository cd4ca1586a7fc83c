import type { QuotaKey } from '../access/effective-access.js';
import type { QuotaState, StoredKey } from '../key.js';
import type { Receipt, ReceiptSource } from '../receipt.js';
import type { QuotaChange } from './quota-change.js';

/** The live counter of a key, with its owner and what its effective quota depends on. */
export interface OrgCounter extends QuotaKey, CounterOrigin {
  readonly orgID: string;
  readonly keyHash: string;
}

/** The initial value of a counter, and the identity of its key. */
export type CounterOrigin = Pick<StoredKey, 'identity' | 'quota'>;

/** A counter that was read: returns its value for this key. */
export type CounterSnapshot = (key: CounterOrigin) => QuotaState;

/** The result of a requested reset. */
export const resetStatuses = {
  APPLIED: 'The live quota was reset: requests are counted from 0.',
  PENDING:
    'The counter could not be reached. The reset is stored with the definition and is applied as soon as possible. A repeated request with an idempotency key can return this status for a reset that is already applied.',
} as const;

/** One of {@link resetStatuses}. */
export type ResetStatus = keyof typeof resetStatuses;

/** The next state of a counter if it changes, and what is written with it. */
export interface QuotaDecision<T> {
  readonly next: QuotaState | undefined;
  readonly result: T;
  readonly receipt?: Receipt | undefined;
}

/**
 * Live counters outside of the database, shared by several gateways. Without them, the counter of a key is in its row: a
 * change of a key changes its counter, and nothing is pending.
 */
export interface ExternalCounters {
  /** The receipts that `consume` writes with the counter of this key. */
  receiptsOf(keyHash: string): ReceiptSource;
  /** As `KeyStore.consume`. */
  consume: ConsumeQuota;
  /**
   * Reads the counters of these keys in one round trip, in their order.
   *
   * @throws {AppError} UNAVAILABLE
   */
  readCounters(keyHashes: readonly string[]): Promise<readonly CounterSnapshot[]>;
  /** The outbox entry for the effect of a change of a key with its effective quota on the counter; undefined if it has none. */
  pendingChange(before: StoredKey, after: StoredKey, at: Date, isReset: boolean): QuotaChange | undefined;
  /** Applies the pending changes of the key's counter. Returns PENDING if the counter is unreachable. */
  applyPending(keyHash: string): Promise<ResetStatus>;
}

/**
 * Changes a live counter. `decide` is pure, because it may be called again. Its `next` is durable before the promise resolves.
 *
 * @param orgID - as for `KeyStore.find`
 */
export type ConsumeQuota = <T>(
  keyHash: string,
  decide: (stored: StoredKey | undefined) => QuotaDecision<T>,
  orgID?: string,
) => Promise<T>;

/** Returns the keys with their live counters. */
export async function withLiveQuotas<Key extends CounterOrigin & { readonly keyHash: string }>(
  external: Pick<ExternalCounters, 'readCounters'> | undefined,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  if (!external) return keys;
  const counters = await external.readCounters(keys.map(({ keyHash }) => keyHash));
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
  /** Returns the number of changes that have not been acknowledged. */
  countPending(): Promise<number>;
  /** Removes changes that have been applied. */
  acknowledge(changes: readonly QuotaChange[]): Promise<void>;
}
