import { errorCodeOf } from '../../lib/errors.js';
import type { QuotaManager } from '../../keys/quota/quota-manager.js';
import type { Meter } from '../../telemetry/ports.js';
import type { Storage } from '../storage.js';
import { createRedis } from './client.js';
import { keyNames } from './counter.js';
import { createLiveQuotas } from './live-quotas.js';
import { readScript } from './lua.js';

/** Open counters in Redis. */
export interface OpenQuotas {
  readonly quotas: QuotaManager;
  readonly close: () => Promise<void>;
}

const everyMs = 1_000;
/**
 * An applied change is applied once more before it is acknowledged: a Redis that syncs to disk every second loses its
 * last writes in a crash.
 */
const acknowledgeAfterMs = 5_000;

/**
 * Opens the live counters in Redis; `relays` also applies pending changes in the background until it is closed. A server
 * that cannot be reached is reported and tried again, and does not keep the process from starting.
 */
export async function openRedisQuotas({
  url,
  pattern,
  store,
  now,
  report,
  relays,
  meter,
}: {
  readonly url: string;
  readonly pattern: string;
  readonly store: Storage['store'];
  readonly now: () => Date;
  readonly report: (line: string) => void;
  readonly relays: boolean;
  readonly meter?: Meter | undefined;
}): Promise<OpenQuotas> {
  const redis = createRedis(url, { script: readScript, keys: keyNames(pattern, '(probe)') }, report);
  const quotas = createLiveQuotas({ redis, store, pattern, now });
  let isClosing = false;
  let lastMessage = '';
  let relaying: Promise<void> = Promise.resolve();

  async function relayPending(): Promise<void> {
    try {
      await quotas.relayPending(new Date(now().getTime() - acknowledgeAfterMs), () => isClosing);
      lastMessage = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : 'it failed for an unknown reason';
      // An unreachable Redis or database is reported by its connection.
      const isUnreachable = errorCodeOf(error) === 'UNAVAILABLE';
      if (!isUnreachable && message !== lastMessage) report(`Resets of live quotas are not applied: ${message}`);
      lastMessage = message;
    }
  }

  let timer: NodeJS.Timeout | undefined;
  function schedule(): void {
    timer = setTimeout(() => {
      relaying = relayPending().finally(() => {
        if (!isClosing) schedule();
      });
    }, everyMs).unref();
  }
  meter?.registerGauge('redis_up', () => (redis.isConnected() ? 1 : 0));
  meter?.registerGauge('quota_resets_pending', () => store.countPending().catch(() => NaN));
  await redis.attempted;
  if (relays) schedule();
  return {
    quotas,
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      await relaying;
      await redis.close();
    },
  };
}
