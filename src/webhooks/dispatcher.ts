import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import type { DeliveryDeps } from './delivery-attempt.js';
import { createDeliveryWorker, type DeliveryWorker } from './delivery-worker.js';
import { defaultRetryPolicy, type RetryPolicy } from './retry-policy.js';
import { createWebhookClient, type WebhookClientOptions } from './http-client.js';
import type { LeasedWebhook, Webhook } from './webhook.js';

/** What the dispatcher needs. */
export interface DispatcherDeps
  extends Omit<DeliveryDeps, 'retryPolicy' | 'storage'>, Pick<WebhookClientOptions, 'open' | 'allowed'> {}

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
const restartDelayMs = 5_000;
/** After this time the leases are left to end by themselves. */
const shutdownTimeoutMs = 5_000;

interface ActiveDelivery {
  readonly worker: DeliveryWorker;
  readonly webhook: Webhook;
  readonly lease: Lease;
}

interface Lease {
  /** End of the lease by the monotonic clock of this process. */
  endsMs: number;
  expiry: NodeJS.Timeout;
}

/** Starts a delivery worker for each webhook whose lease this process acquires. */
export function startDispatcher(deps: DispatcherDeps, options: DispatcherOptions = {}): Dispatcher {
  const { store, open, allowed, log } = deps;
  const {
    retryPolicy = defaultRetryPolicy,
    timeoutMs = 10_000,
    pollIntervalMs = 1_000,
    leaseDurationMs = 6_000,
  } = options;
  const holder = randomUUID();
  const active = new Map<string, ActiveDelivery>();
  /** Workers that are being stopped and may still write results. */
  const ending = new Map<string, Promise<void>>();
  /** Earliest restart of workers that failed, by the monotonic clock. */
  const restartAfter = new Map<string, number>();
  const storage = pLimit(maxConcurrentReads);
  let isStopping = false;
  let isStorageAvailable = true;
  /** Also true while a response that grants leases is outstanding, or was lost. */
  let mayHoldLeases = false;
  /** Webhooks for which nothing is delivered, with the message that was logged for each. */
  let unusable: ReadonlyMap<string, string> = new Map();
  let polling: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** Ends the deliveries of a webhook. Attempts in flight may go on as long as the lease and `withinMs` permit. */
  function stopWorker(id: string, withinMs: number): Promise<void> {
    const found = active.get(id);
    if (!found) return Promise.resolve();
    active.delete(id);
    const { worker, lease } = found;
    clearTimeout(lease.expiry);
    if (worker.endState() === 'failed') restartAfter.set(id, performance.now() + restartDelayMs);
    const graceMs = Math.max(0, Math.min(withinMs, lease.endsMs - performance.now()));
    const end = worker
      .stop(graceMs)
      .then(() => release(id))
      .finally(() => ending.delete(id));
    ending.set(id, end);
    return end;
  }

  /** Releases a recalled lease, for which the command waits that changed the webhook. */
  async function release(id: string): Promise<void> {
    await store.releaseRecalled(holder, id).catch((error: unknown) => {
      log.warn({ err: error, webhook: id }, 'the lease of a webhook could not be released; it will expire');
    });
  }

  function startWorker(leased: LeasedWebhook, requestedMs: number): void {
    const { webhook } = leased;
    const client = createWebhookClient(webhook, { allowed, timeoutMs, open });
    const lease = leaseOf(leased, requestedMs);
    const maySend = () => performance.now() < lease.endsMs;
    const worker = createDeliveryWorker(leased, { ...deps, client, holder, maySend, retryPolicy, storage });
    active.set(webhook.id, { worker, webhook, lease });
  }

  /** Stops the worker when the lease ends, because another process may then acquire it. */
  function leaseOf({ webhook: { id }, remainingMs }: LeasedWebhook, requestedMs: number): Lease {
    const expire = () => {
      log.warn({ webhook: id }, 'the lease of a webhook could not be renewed');
      void stopWorker(id, 0);
    };
    const endsMs = requestedMs + remainingMs;
    return { endsMs, expiry: setTimeout(expire, Math.max(0, endsMs - performance.now())).unref() };
  }

  async function poll(): Promise<void> {
    // A lease counts from before the request: its duration on the wire must not extend it.
    const requestedMs = performance.now();
    mayHoldLeases = true;
    const found = await store.acquireLeases(holder, leaseDurationMs);
    mayHoldLeases = found.held.length + found.recalled.length > 0;
    if (isStopping) return;
    const unusableNow = new Map<string, string>();
    const reportUnusable = (id: string, message: string, error?: unknown) => {
      unusableNow.set(id, message);
      if (unusable.get(id) !== message) log.error({ err: error, webhook: id }, message);
    };
    for (const id of found.damaged)
      reportUnusable(id, 'the row of a webhook fails its integrity check; nothing is delivered for it');
    const ids = new Set(found.held.map(({ webhook }) => webhook.id));
    // Not awaited: a slow receiver must not delay the other webhooks.
    for (const id of active.keys()) if (!ids.has(id)) void stopWorker(id, stopTimeoutMs);
    for (const id of found.recalled) if (!ending.has(id)) void release(id);
    for (const one of found.held) {
      const { webhook } = one;
      const known = active.get(webhook.id);
      // Workers of changed webhooks and workers that have ended are replaced.
      if (known && known.worker.endState() === undefined && isDeepStrictEqual(known.webhook, webhook)) {
        clearTimeout(known.lease.expiry);
        Object.assign(known.lease, leaseOf(one, requestedMs));
        known.worker.notifyOfReplays();
        continue;
      }
      // The next poll reads the state that the worker wrote.
      if (known) void stopWorker(webhook.id, stopTimeoutMs);
      else if (!ending.has(webhook.id) && (restartAfter.get(webhook.id) ?? 0) <= requestedMs) {
        try {
          startWorker(one, requestedMs);
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
    await Promise.all([...active.keys()].map((id) => stopWorker(id, stopTimeoutMs)));
    await Promise.all(ending.values());
    // Another process can then take over at once.
    if (mayHoldLeases) await store.releaseLeases(holder).catch(() => undefined);
  }

  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= Promise.race([stop(), wait(shutdownTimeoutMs, undefined, { ref: false })])) };
}
