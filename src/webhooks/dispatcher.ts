import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { createDeliveryWorker, type DeliveryWorker, type DeliveryWorkerDeps } from './delivery-worker.js';
import { defaultRetryPolicy, type RetryPolicy } from './retry-policy.js';
import { createWebhookClient, type WebhookClientOptions } from './http-client.js';
import type { Webhook } from './webhook.js';

/** Dependencies of the dispatcher. */
export interface DispatcherDeps
  extends
    Omit<DeliveryWorkerDeps, 'client' | 'holder' | 'retryPolicy' | 'storage'>,
    Pick<WebhookClientOptions, 'sealer' | 'allowed'> {}

/** Durations, which tests shorten. */
export interface DispatcherOptions {
  readonly retryPolicy?: RetryPolicy;
  /** Timeout of an attempt. */
  readonly timeoutMs?: number;
  /** Interval at which leases are acquired and renewed. */
  readonly pollIntervalMs?: number;
  /** Lease duration, which is also the failover time. */
  readonly leaseDurationMs?: number;
}

/** Delivers the events of all webhooks whose lease this process holds. */
export interface Dispatcher {
  /** Waits up to 5 seconds for the attempts in flight, and releases all leases. Never throws. */
  readonly stop: () => Promise<void>;
}

const maxConcurrentReads = 3;
const stopTimeoutMs = 2_000;
/** After this time the leases are left to end by themselves. */
const shutdownTimeoutMs = 5_000;

/** Starts a delivery worker for each webhook whose lease this process acquires. */
export function startDispatcher(deps: DispatcherDeps, options: DispatcherOptions = {}): Dispatcher {
  const { store, sealer, allowed, log } = deps;
  const {
    retryPolicy = defaultRetryPolicy,
    timeoutMs = 10_000,
    pollIntervalMs = 1_000,
    leaseDurationMs = 6_000,
  } = options;
  const holder = randomUUID();
  const active = new Map<string, { readonly worker: DeliveryWorker; readonly webhook: Webhook }>();
  /** Workers that are being stopped and may still write results. */
  const ending = new Map<string, Promise<void>>();
  const storage = pLimit(maxConcurrentReads);
  let isStopping = false;
  let isStorageAvailable = true;
  /** The latest message for each webhook for which nothing is delivered, so that each is logged once. */
  let unusable: ReadonlyMap<string, string> = new Map();
  let polling: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** Stops the worker of a webhook, if it has one, and releases a recalled lease, for which a command waits. */
  function endDeliveries(id: string): Promise<void> {
    const found = active.get(id);
    active.delete(id);
    const end = (found ? found.worker.stop(stopTimeoutMs) : Promise.resolve())
      .then(() => store.releaseRecalled(holder, id))
      .catch((error: unknown) => {
        log.warn({ err: error, webhook: id }, 'the lease of a webhook could not be released; it will expire');
      })
      .finally(() => ending.delete(id));
    ending.set(id, end);
    return end;
  }

  async function poll(): Promise<void> {
    // A lease counts from before the request: its duration on the wire must not extend it.
    const requestedMs = performance.now();
    const found = await store.acquireLeases(holder, leaseDurationMs);
    if (isStopping) return;
    const unusableNow = new Map<string, string>();
    const reportUnusable = (id: string, message: string, error?: unknown) => {
      unusableNow.set(id, message);
      if (unusable.get(id) !== message) log.error({ err: error, webhook: id }, message);
    };
    for (const id of found.damaged)
      reportUnusable(id, 'the row of a webhook fails its integrity check; nothing is delivered for it');
    const held = new Set(found.held.map(({ webhook }) => webhook.id));
    const lost = [...active.keys()].filter((id) => !held.has(id));
    // Not awaited: a slow receiver must not delay the other webhooks.
    for (const id of new Set([...lost, ...found.recalled])) if (!ending.has(id)) void endDeliveries(id);
    for (const leased of found.held) {
      const { webhook } = leased;
      const endsMs = requestedMs + leased.remainingMs;
      const known = active.get(webhook.id);
      if (known && !known.worker.isStopping() && isDeepStrictEqual(known.webhook, webhook)) {
        known.worker.renewLease(endsMs);
      } else if (known) {
        // The next poll reads the state that the worker wrote.
        void endDeliveries(webhook.id);
      } else if (!ending.has(webhook.id)) {
        try {
          const client = createWebhookClient(webhook, { allowed, timeoutMs, sealer });
          const worker = createDeliveryWorker(leased, endsMs, { ...deps, client, holder, retryPolicy, storage });
          active.set(webhook.id, { worker, webhook });
        } catch (error) {
          const message = 'the delivery worker of a webhook could not be started; nothing is delivered for it';
          reportUnusable(webhook.id, message, error);
        }
      }
    }
    unusable = unusableNow;
  }

  async function pollAndSchedule(): Promise<void> {
    try {
      await poll();
      if (!isStorageAvailable) log.info('webhook deliveries resumed');
      isStorageAvailable = true;
    } catch (error) {
      if (isStorageAvailable) log.warn({ err: error }, 'webhooks could not be read; retrying');
      isStorageAvailable = false;
    }
    if (isStopping) return;
    timer = setTimeout(() => {
      polling = pollAndSchedule();
    }, pollIntervalMs).unref();
  }

  polling = pollAndSchedule();

  async function stop(): Promise<void> {
    isStopping = true;
    clearTimeout(timer);
    await polling;
    await Promise.all([...active.keys()].map(endDeliveries));
    await Promise.all(ending.values());
    // Another process can then take over at once. Also releases leases whose response was lost.
    await store.releaseLeases(holder).catch(() => undefined);
  }

  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= Promise.race([stop(), wait(shutdownTimeoutMs, undefined, { ref: false })])) };
}
