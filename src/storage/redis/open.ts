import { AppError } from '../../lib/errors.js';
import type { QuotaManager } from '../../keys/quota/quota-manager.js';
import type { Storage } from '../storage.js';
import { createRedis } from './client.js';
import { keyNames } from './key-names.js';
import { createLiveQuotas } from './live-quotas.js';
import { readScript } from './lua.js';

export interface OpenQuotas {
  readonly quotas: QuotaManager;
  readonly close: () => Promise<void>;
}

const everyMs = 1_000;
/**
 * What was carried out is looked at once more before it is forgotten: a Redis that writes to its disk every second has
 * lost the last of it when it comes back after a crash.
 */
const forgottenAfterMs = 5_000;

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
}: {
  readonly url: string;
  readonly pattern: string;
  readonly store: Storage['store'];
  readonly now: () => Date;
  readonly report: (line: string) => void;
  readonly relays: boolean;
}): Promise<OpenQuotas> {
  const redis = createRedis(url, { script: readScript, keys: keyNames(pattern, '(probe)') }, report);
  const quotas = createLiveQuotas({ redis, store, pattern, now });
  let isClosing = false;
  let told = '';
  let carrying: Promise<void> = Promise.resolve();

  async function carryOut(): Promise<void> {
    try {
      await quotas.carryOut(new Date(now().getTime() - forgottenAfterMs), () => isClosing);
      told = '';
    } catch (error) {
      const words = error instanceof Error ? error.message : 'it failed for an unknown reason';
      // That Redis or the database is away is told of elsewhere.
      const isAway = error instanceof AppError && error.code === 'UNAVAILABLE';
      if (!isAway && words !== told) report(`Resets of live quotas are not carried out: ${words}`);
      told = words;
    }
  }

  let timer: NodeJS.Timeout | undefined;
  function schedule(): void {
    timer = setTimeout(() => {
      carrying = carryOut().finally(() => {
        if (!isClosing) schedule();
      });
    }, everyMs).unref();
  }
  await redis.tried;
  if (relays) schedule();
  return {
    quotas,
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      await carrying;
      await redis.close();
    },
  };
}
