import { AppError } from '../../lib/errors.js';
import { receiptLifetimeMs } from '../../keys/idempotency.js';
import type { CounterOrigin } from '../../keys/quota/external-counters.js';
import type { QuotaState } from '../../keys/key.js';
import type { Receipt, ReceiptSource } from '../../keys/receipt.js';
import type { Redis } from './client.js';
import { readReceiptScript } from './lua.js';

/** Both Redis keys of a counter. The text in braces selects the hash slot, so they share one. */
export function keyNames(pattern: string, keyHash: string): [counter: string, kept: string] {
  const counter = pattern.replace('{keyHash}', keyHash);
  return [counter, `keyfront:{${counter}}`];
}

/** The name of a receipt, in the hash slot of the counter. */
export function receiptName(pattern: string, keyHash: string, id: string): string {
  return `${keyNames(pattern, keyHash)[1]}:receipt:${id}`;
}

/** The values of the two Redis keys of a counter, as the scripts return them. */
export interface Counter {
  /** Undefined if there is no counter. */
  readonly count: bigint | undefined;
  /** When the counter expires, in Unix milliseconds by the clock of Redis; -1 for never, -2 for no counter. */
  readonly expiry: string;
  /** What Keyfront stored with it; undefined if Keyfront has never written it. */
  readonly kept:
    | { readonly identity: string; readonly changed: bigint; readonly renews: string; readonly expires: string }
    | undefined;
  /** All values but the count, as they were read. A write requires them unchanged. */
  readonly fingerprint: readonly string[];
}

/** Returns the counter of the values that a script returned. @throws {AppError} INTERNAL when the count is not an integer. */
export function counterFromHash([
  count = '',
  expiry = '',
  identity = '',
  changed = '',
  renews = '',
  expires = '',
]: readonly string[]): Counter {
  return {
    count: count === '' ? undefined : integerOf(count),
    expiry,
    kept: changed === '' ? undefined : { identity, changed: BigInt(changed), renews, expires },
    fingerprint: [expiry, identity, changed, renews, expires],
  };
}

/** Whether the counter has begun and belongs to this key, and not to a purged key with the same identifier. */
export function isOf({ count, kept }: Counter, { identity }: CounterOrigin): boolean {
  return kept ? kept.identity === identity : count !== undefined;
}

/** The live quota of the key: that of the counter, or that of the key if the counter has not begun. */
export function quotaOf(counter: Counter, key: CounterOrigin, nowMs: number): QuotaState {
  if (!isOf(counter, key)) return key.quota;
  const { count, kept, expiry } = counter;
  const renews = kept && kept.renews !== '' ? BigInt(kept.renews) : undefined;
  if (count === undefined) return { used: 0n, renews };
  const used = count < 0n ? 0n : count;
  if (kept && kept.expires === expiry) return { used, renews };
  // A gateway has begun this period, which ends when the counter expires.
  return { used, renews: Number(expiry) < 0 ? renews : BigInt(Math.ceil(Math.max(Number(expiry), nowMs + 1) / 1000)) };
}

function integerOf(text: string): bigint {
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text);
  throw new AppError('INTERNAL', 'A live counter in Redis is not an integer: another program uses its name.');
}

/** The receipts of consumptions of one key, which Redis removes after 24 hours. */
export function receiptsOfCounter(redis: Redis, pattern: string, keyHash: string): ReceiptSource {
  return {
    async findReceipt(id) {
      const [text = ''] = await redis.read(readReceiptScript, [receiptName(pattern, keyHash, id)]);
      const [at, sealed] = text.split(':');
      return sealed === undefined ? undefined : { id, at: new Date(Number(at)), sealed: Buffer.from(sealed, 'base64') };
    },
    // The script that writes a receipt replaces an expired one.
    removeReceipt: () => Promise.resolve(),
  };
}

/** The arguments of `writeScript` for a receipt, after those of the counter. */
export function receiptArguments({ at, sealed }: Receipt, count: bigint | undefined): string[] {
  const moment = at.getTime();
  return [
    count === undefined ? '' : String(count),
    `${moment}:${Buffer.from(sealed).toString('base64')}`,
    String(moment - receiptLifetimeMs),
    String(receiptLifetimeMs),
  ];
}
