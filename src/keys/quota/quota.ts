import { clampInt64, unixSeconds } from '../../lib/int64.js';
import type { Definition } from '../definition/normalize.js';
import { stateOf, type QuotaState, type StoredKey } from '../key.js';

/** Why quota of an existing key is not consumed. */
export const quotaRejections = {
  QUOTA_EXCEEDED: 'Fewer requests remain than were requested.',
  INACTIVE: 'The key is switched off.',
  EXPIRED: 'The key has expired.',
} as const;

/** One of {@link quotaRejections}. */
export type QuotaRejection = keyof typeof quotaRejections;

/** The current values of a quota. */
export interface QuotaFigures {
  /** Maximum number of requests in a period; undefined if unlimited. */
  readonly max: bigint | undefined;
  readonly used: bigint;
  /** At least 0; undefined if unlimited. */
  readonly remaining: bigint | undefined;
  /** End of the period in Unix seconds; undefined if the quota does not renew. */
  readonly renewsAt: bigint | undefined;
}

/** The result of consuming quota. */
export interface Consumption {
  readonly allowed: boolean;
  readonly rejection: QuotaRejection | undefined;
  readonly figures: QuotaFigures;
}

/** A live counter, with the fields of its key that determine its current values. */
export interface QuotaCounter {
  readonly definition: Pick<Definition, 'quotaMax' | 'quotaRenewalRate'>;
  readonly quota: QuotaState;
}

/** Takes `amount` from the quota if that much remains, otherwise nothing. Pure; `next` is undefined if nothing changes. */
export function consume(
  key: StoredKey,
  amount: bigint,
  now: Date,
): { next: QuotaState | undefined; result: Consumption } {
  const current = counterAt(key, now);
  const max = maxOf(key);
  const rejection =
    stateRejection(key, now) ?? (max !== undefined && current.used + amount > max ? 'QUOTA_EXCEEDED' : undefined);
  if (rejection !== undefined)
    return { next: undefined, result: { allowed: false, rejection, figures: figuresOf(key, current) } };
  if (max === undefined)
    return { next: undefined, result: { allowed: true, rejection, figures: figuresOf(key, current) } };
  const next = { used: current.used + amount, renews: current.renews };
  return { next, result: { allowed: true, rejection, figures: figuresOf(key, next) } };
}

/** Returns the values at the time `now`. A period that has ended counts as renewed. */
export function quotaFigures(key: QuotaCounter, now: Date): QuotaFigures {
  return figuresOf(key, counterAt(key, now));
}

/** Returns the counter after a change of the definition: the used requests stay, even if the period changes. */
export function carryOverQuota(
  key: Pick<QuotaCounter, 'quota'> & { readonly definition: Pick<Definition, 'quotaRenewalRate'> },
  definition: Pick<Definition, 'quotaRenewalRate'>,
  now: Date,
): QuotaState {
  const quota = counterAt(key, now);
  const period = definition.quotaRenewalRate ?? 0n;
  const seconds = unixSeconds(now);
  if (period <= 0n || (quota.renews !== undefined && quota.renews > seconds)) return quota;
  // A quota that did not renew starts its first period now. A period end in the past would reset the count.
  return { ...quota, renews: clampInt64(seconds + period) };
}

/** Returns the counter after a reset at this Unix second. */
export function resetQuota(quota: QuotaState, period: bigint, seconds: bigint): QuotaState {
  // A quota that does not renew has no next period, so that its period end stays.
  return period <= 0n ? { ...quota, used: 0n } : { used: 0n, renews: clampInt64(seconds + period) };
}

/** Returns the counter at the time `now`. Periods are contiguous, even if no request comes in one of them. */
function counterAt({ definition, quota }: QuotaCounter, now: Date): QuotaState {
  const period = definition.quotaRenewalRate ?? 0n;
  if (period <= 0n) return quota;
  const seconds = unixSeconds(now);
  // A period can end after the largest time.
  if (quota.renews === undefined) return { ...quota, renews: clampInt64(seconds + period) };
  if (quota.renews > seconds) return quota;
  const ended = (seconds - quota.renews) / period + 1n;
  return { used: 0n, renews: clampInt64(quota.renews + ended * period) };
}

function figuresOf(key: QuotaCounter, { used, renews }: QuotaState): QuotaFigures {
  const max = maxOf(key);
  const remaining = max === undefined ? undefined : used < max ? max - used : 0n;
  return { max, used, remaining, renewsAt: (key.definition.quotaRenewalRate ?? 0n) > 0n ? renews : undefined };
}

/** Returns the maximum; undefined if unlimited, which is -1 or 0. */
function maxOf({ definition: { quotaMax } }: QuotaCounter): bigint | undefined {
  return quotaMax !== undefined && quotaMax > 0n ? quotaMax : undefined;
}

function stateRejection(key: StoredKey, now: Date): QuotaRejection | undefined {
  const state = stateOf(key, now);
  return state === 'INACTIVE' || state === 'EXPIRED' ? state : undefined;
}
