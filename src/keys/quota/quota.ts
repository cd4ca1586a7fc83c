import { maxInt64, unixSeconds } from '../../lib/int64.js';
import type { Definition } from '../definition/normalize.js';
import { stateOf, type QuotaState, type StoredKey } from '../key.js';

/** Why a request may not pass, although the key is there. */
export const quotaRejections = {
  QUOTA_EXCEEDED: 'Fewer requests remain than were requested.',
  INACTIVE: 'The key is switched off.',
  EXPIRED: 'The key has expired.',
} as const;

export type QuotaRejection = keyof typeof quotaRejections;

/** The live figures of a quota. */
export interface QuotaFigures {
  /** Requests allowed in a period; undefined where that is unlimited. */
  readonly max: bigint | undefined;
  readonly used: bigint;
  /** Never below 0; undefined where the quota is unlimited. */
  readonly remaining: bigint | undefined;
  /** End of the period in Unix seconds; undefined where the quota does not renew, or no period has begun. */
  readonly renewsAt: bigint | undefined;
}

/** The answer to a gateway that asks whether it may let requests pass. */
export interface Consumption {
  readonly allowed: boolean;
  readonly refusal: QuotaRejection | undefined;
  readonly figures: QuotaFigures;
}

/** A live counter, with as much of its key as it takes to read it. */
export interface Counter {
  readonly definition: Pick<Definition, 'quotaMax' | 'quotaRenewalRate'>;
  readonly quota: QuotaState;
}

/** Takes `amount` from the quota if all of it is there, else nothing. Pure. */
export function consume(
  key: StoredKey,
  amount: bigint,
  now: Date,
): { next: QuotaState | undefined; result: Consumption } {
  const current = atMoment(key, now);
  const max = maximumOf(key);
  const refusal =
    refusalOf(key, now) ?? (max !== undefined && current.used + amount > max ? 'QUOTA_EXCEEDED' : undefined);
  if (refusal !== undefined)
    return { next: undefined, result: { allowed: false, refusal, figures: figuresOf(key, current) } };
  if (max === undefined)
    return { next: undefined, result: { allowed: true, refusal, figures: figuresOf(key, current) } };
  const next = { used: current.used + amount, renews: current.renews };
  return { next, result: { allowed: true, refusal, figures: figuresOf(key, next) } };
}

/** The figures as they are at this moment, a period that has ended counted as renewed. */
export function quotaFigures(key: Counter, now: Date): QuotaFigures {
  return figuresOf(key, atMoment(key, now));
}

/** The counter that a key takes along into another definition: used is what has been used, whatever the period was. */
export function carryOverQuota(
  key: Pick<Counter, 'quota'> & { readonly definition: Pick<Definition, 'quotaRenewalRate'> },
  definition: Pick<Definition, 'quotaRenewalRate'>,
  now: Date,
): QuotaState {
  const quota = atMoment(key, now);
  const period = definition.quotaRenewalRate ?? 0n;
  const seconds = unixSeconds(now);
  if (period <= 0n || (quota.renews !== undefined && quota.renews > seconds)) return quota;
  // A quota that did not renew begins its first period now: an end that lies behind it would clear the count.
  return { ...quota, renews: within(seconds + period) };
}

/** The counter of a quota that begins anew at the Unix second. */
export function resetQuota(quota: QuotaState, period: bigint, seconds: bigint): QuotaState {
  // A quota that does not renew keeps the moment it has: there is no next period to begin.
  return period <= 0n ? { ...quota, used: 0n } : { used: 0n, renews: within(seconds + period) };
}

/** The counter at this moment. Periods follow each other without a gap, however late the first request of one comes. */
function atMoment({ definition, quota }: Counter, now: Date): QuotaState {
  const period = definition.quotaRenewalRate ?? 0n;
  if (period <= 0n) return quota;
  const seconds = unixSeconds(now);
  if (quota.renews === undefined) return { ...quota, renews: within(seconds + period) };
  if (quota.renews > seconds) return quota;
  const ended = (seconds - quota.renews) / period + 1n;
  return { used: 0n, renews: within(quota.renews + ended * period) };
}

/** The moment, or the last one that has a number: a period may be longer than time. */
function within(seconds: bigint): bigint {
  return seconds > maxInt64 ? maxInt64 : seconds;
}

function figuresOf(key: Counter, { used, renews }: QuotaState): QuotaFigures {
  const max = maximumOf(key);
  const remaining = max === undefined ? undefined : used < max ? max - used : 0n;
  return { max, used, remaining, renewsAt: (key.definition.quotaRenewalRate ?? 0n) > 0n ? renews : undefined };
}

/** Unlimited is written as -1, and 0 has always meant it too. */
function maximumOf({ definition: { quotaMax } }: Counter): bigint | undefined {
  return quotaMax !== undefined && quotaMax > 0n ? quotaMax : undefined;
}

function refusalOf(key: StoredKey, now: Date): QuotaRejection | undefined {
  const state = stateOf(key, now);
  return state === 'INACTIVE' || state === 'EXPIRED' ? state : undefined;
}
