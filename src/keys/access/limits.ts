import type { LimitName, LimitPart, LimitValues, Origin } from './policy.js';

/** Limits with the origin of each. A value that is absent limits nothing. */
export interface EffectiveLimits {
  readonly values: LimitValues;
  readonly origins: Readonly<Partial<Record<LimitName, Origin>>>;
}

/** The limits that one source states. */
export interface LimitSource {
  readonly limits: LimitValues;
  readonly origin: Origin;
}

type Merged = { [Name in LimitName]?: { readonly value: NonNullable<LimitValues[Name]>; readonly origin: Origin } };

/**
 * Combines the sources of each part to the most permissive value, as the table in docs/policies.md states. 0 and an absent
 * value state nothing; -1 is unlimited.
 */
export function combineLimits(sourcesOf: (part: LimitPart) => readonly LimitSource[]): EffectiveLimits {
  const merged: Merged = { ...combinedRate(sourcesOf('RATE_LIMIT')), ...combinedQuota(sourcesOf('QUOTA')) };
  const maxQueryDepth = highest(sourcesOf('QUERY_DEPTH'), ({ maxQueryDepth }) => maxQueryDepth);
  if (maxQueryDepth) merged.maxQueryDepth = maxQueryDepth;
  return limitsOf(merged);
}

/** Combines the sources of the quota alone, as `combineLimits` does. */
export function combineQuota(sources: readonly LimitSource[]): EffectiveLimits {
  return limitsOf(combinedQuota(sources));
}

function limitsOf(merged: Merged): EffectiveLimits {
  const present = Object.entries(merged);
  return {
    values: Object.fromEntries(present.map(([name, { value }]) => [name, value])),
    origins: Object.fromEntries(present.map(([name, { origin }]) => [name, origin])),
  };
}

/** Whether limits state the value that decides about a part: without it, the other values of the part have no effect. */
export function statesPart(limits: LimitValues, part: LimitPart): boolean {
  if (part === 'RATE_LIMIT') return speedOf(limits) !== undefined;
  return part === 'QUOTA' ? (limits.quotaMax ?? 0n) !== 0n : (limits.maxQueryDepth ?? 0) !== 0;
}

/** The fastest rate, with its period and its smoothing, and the highest of each throttle value. */
function combinedRate(sources: readonly LimitSource[]): Merged {
  const merged: Merged = {};
  let fastest: (LimitSource & { readonly speed: number }) | undefined;
  for (const source of sources) {
    const speed = speedOf(source.limits);
    if (speed === undefined) continue;
    // At the same speed, the higher rate permits the larger burst.
    const isFaster = !fastest || speed > fastest.speed || (speed === fastest.speed && burst(source) > burst(fastest));
    if (isFaster) fastest = { ...source, speed };
  }
  if (fastest) {
    const { limits, origin } = fastest;
    if (limits.rate !== undefined) merged.rate = { value: limits.rate, origin };
    if (limits.per !== undefined) merged.per = { value: limits.per, origin };
    if (limits.smoothing !== undefined) merged.smoothing = { value: limits.smoothing, origin };
  }
  const throttleInterval = highest(sources, (limits) => positive(limits.throttleInterval));
  if (throttleInterval) merged.throttleInterval = throttleInterval;
  const throttleRetryLimit = highest(sources, (limits) => positive(limits.throttleRetryLimit));
  if (throttleRetryLimit) merged.throttleRetryLimit = throttleRetryLimit;
  return merged;
}

/** Requests a second; Infinity without a limit, undefined if the source states none. */
function speedOf({ rate, per }: LimitValues): number | undefined {
  if (rate === undefined || per === undefined || rate === 0 || per === 0) return undefined;
  return rate < 0 || per < 0 ? Infinity : rate / per;
}

function burst({ limits }: LimitSource): number {
  return limits.rate ?? 0;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}

/**
 * The highest maximum, and the longest period of the sources that have a maximum. A quota that never renews has the longest
 * period: with a shorter one, the combination would permit more than each of its sources.
 */
function combinedQuota(sources: readonly LimitSource[]): Merged {
  const quotaMax = highest(sources, (limits) => limits.quotaMax);
  if (!quotaMax) return {};
  if (quotaMax.value < 0n) return { quotaMax };
  let longest: { readonly period: bigint | undefined; readonly origin: Origin } | undefined;
  for (const { limits, origin } of sources) {
    if ((limits.quotaMax ?? 0n) === 0n) continue;
    const { quotaRenewalRate: rate } = limits;
    const period = rate !== undefined && rate > 0n ? rate : undefined;
    if (!longest || (longest.period !== undefined && (period === undefined || period > longest.period)))
      longest = { period, origin };
  }
  return longest?.period === undefined
    ? { quotaMax }
    : { quotaMax, quotaRenewalRate: { value: longest.period, origin: longest.origin } };
}

/** The first highest value; a negative one is unlimited, and so the highest. 0 states nothing. */
function highest<T extends number | bigint>(
  sources: readonly LimitSource[],
  valueOf: (limits: LimitValues) => T | undefined,
): { readonly value: T; readonly origin: Origin } | undefined {
  let found: { readonly value: T; readonly origin: Origin } | undefined;
  for (const { limits, origin } of sources) {
    const value = valueOf(limits);
    if (value === undefined || value == 0) continue;
    if (!found || (found.value >= 0 && (value < 0 || value > found.value))) found = { value, origin };
  }
  return found;
}
