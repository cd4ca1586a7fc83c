import { AppError } from '../../lib/errors.js';
import type { CounterOrigin } from '../../keys/quota/quota-manager.js';
import type { QuotaState } from '../../keys/key.js';

/** What the two keys of a counter say, as the scripts answer it. */
export interface Counter {
  /** Undefined where there is no counter at the moment. */
  readonly count: bigint | undefined;
  /** When the counter goes away, in Unix milliseconds by the clock of Redis; -1 where it stays, -2 where there is none. */
  readonly expiry: string;
  /** What we remember of it; undefined where we have never written it. */
  readonly kept:
    | { readonly created: string; readonly changed: bigint; readonly renews: string; readonly expires: string }
    | undefined;
  /** All but the count, as it came: what a write must find unchanged. */
  readonly seen: readonly string[];
}

export function counterFromHash([
  count = '',
  expiry = '',
  created = '',
  changed = '',
  renews = '',
  expires = '',
]: readonly string[]): Counter {
  return {
    count: count === '' ? undefined : integerOf(count),
    expiry,
    kept: changed === '' ? undefined : { created, changed: BigInt(changed), renews, expires },
    seen: [expiry, created, changed, renews, expires],
  };
}

/** Whether the counter is that of the key, and not yet to be begun, or that of a purged one of the same identifier. */
export function isOf({ count, kept }: Counter, { dateCreated }: CounterOrigin): boolean {
  return kept ? kept.created === dateCreated : count !== undefined;
}

/** The quota that the counter shows for the key; the key's own where it has not begun. */
export function quotaOf(counter: Counter, key: CounterOrigin, nowMs: number): QuotaState {
  if (!isOf(counter, key)) return key.quota;
  const { count, kept, expiry } = counter;
  const renews = kept && kept.renews !== '' ? BigInt(kept.renews) : undefined;
  if (count === undefined) return { used: 0n, renews };
  const used = count < 0n ? 0n : count;
  if (kept && kept.expires === expiry) return { used, renews };
  // Somebody else, a gateway, has begun this period: it ends when the counter does.
  return { used, renews: Number(expiry) < 0 ? renews : BigInt(Math.ceil(Math.max(Number(expiry), nowMs + 1) / 1000)) };
}

function integerOf(text: string): bigint {
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text);
  throw new AppError('INTERNAL', 'A live counter in Redis is no integer: something else stands under its name.');
}
