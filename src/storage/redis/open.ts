import { errorCodeOf } from '../../lib/errors.js';
import type { ExternalCounters } from '../../keys/quota/external-counters.js';
import type { Meter } from '../../telemetry/ports.js';
import type { Storage } from '../storage.js';
import { createRedis } from './client.js';
import { keyNames } from './counter.js';
import { createLiveQuotas } from './live-quotas.js';
import { readScript } from './lua.js';

/** Open counters in Redis. */
export interface OpenQuotas {
  readonly quotas: ExternalCounters;
  /** Applies the pending changes, and reports an error once. Never throws. */
  readonly relayPending: (signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * An applied change is applied once more before it is acknowledged: a Redis that syncs to disk every second loses its
 * last writes in a crash.
 */
const acknowledgeAfterMs = 5_000;

/**
 * Opens the live counters in Redis. A server that cannot be reached is reported and tried again, and does not keep the
 * process from starting.
 */
export async function openRedisQuotas({
  url,
  pattern,
  store,
  policies,
  now,
  report,
  meter,
}: {
  readonly url: string;
  readonly pattern: string;
  readonly store: Storage['store'];
  readonly policies: Storage['policies'];
  readonly now: () => Date;
  readonly report: (line: string) => void;
  readonly meter?: Meter | undefined;
}): Promise<OpenQuotas> {
  const redis = createRedis(url, { script: readScript, keys: keyNames(pattern, '(probe)') }, report);
  const quotas = createLiveQuotas({ redis, store, policies, pattern, now });
  let lastMessage = '';

  meter?.registerGauge('redis_up', () => (redis.isConnected() ? 1 : 0));
  meter?.registerGauge('quota_resets_pending', () => store.countPending().catch(() => NaN));
  await redis.attempted;
  return {
    quotas,
    async relayPending(signal) {
      try {
        await quotas.relayPending(new Date(now().getTime() - acknowledgeAfterMs), signal);
        lastMessage = '';
      } catch (error) {
        const message = error instanceof Error ? error.message : 'it failed for an unknown reason';
        // An unreachable Redis or database is reported by its connection.
        const isUnreachable = errorCodeOf(error) === 'UNAVAILABLE';
        if (!isUnreachable && message !== lastMessage) report(`Resets of live quotas are not applied: ${message}`);
        lastMessage = message;
      }
    },
    close: redis.close,
  };
}
