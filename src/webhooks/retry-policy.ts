const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** When failed attempts are repeated. */
export interface RetryPolicy {
  /** Delays after the first failures; later failures have the last delay. */
  readonly delaysMs: readonly number[];
  /** Attempts until an event becomes a dead letter. */
  readonly maxAttempts: number;
}

/** 30 attempts in about a day. */
export const defaultRetryPolicy: RetryPolicy = {
  delaysMs: [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour],
  maxAttempts: 30,
};

/** A delay varies by this fraction, so that keys that failed together are not retried together. */
const jitter = 0.25;

/** Larger values of `Retry-After` are reduced to this. */
const maxRetryAfterMs = 24 * hour;

/**
 * Returns the delay before the next attempt in milliseconds, with a jitter of 25 %.
 *
 * @param attempts - failed attempts so far, from 1
 * @param retryAfterMs - the receiver's `Retry-After`; the longer of both delays applies
 */
export function retryDelayMs({ delaysMs }: RetryPolicy, attempts: number, retryAfterMs: number | undefined): number {
  const delayMs = (delaysMs[attempts - 1] ?? delaysMs.at(-1) ?? hour) * (1 - jitter + Math.random() * 2 * jitter);
  return Math.round(Math.max(delayMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs)));
}

/** Returns the longest delay of `retryDelayMs`. */
export function maxRetryDelayMs({ delaysMs }: RetryPolicy): number {
  return Math.max(maxRetryAfterMs, ...delaysMs.map((delayMs) => Math.ceil(delayMs * (1 + jitter))));
}

/**
 * Parses a `Retry-After` header (seconds or an HTTP date, RFC 9110 section 10.2.3) to milliseconds; undefined if it is
 * neither.
 */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * second;
  const until = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(until) ? undefined : Math.max(0, until - nowMs);
}
