import { setMaxListeners } from 'node:events';
import type { ChangeEvent } from '../keys/change-feed.js';
import { createAsyncEvent } from '../lib/async-event.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import { attemptDelivery, type DeliveryDeps } from './delivery-attempt.js';
import type { WebhookClient } from './http-client.js';
import type { Delivery, DeliveryKind, DeliveryResults, EventSpan, LeasedWebhook } from './webhook.js';

/** What a delivery worker needs. */
export interface DeliveryWorkerDeps extends DeliveryDeps {
  readonly client: WebhookClient;
  readonly holder: string;
  /** False after the lease has ended by the monotonic clock of this process. */
  readonly maySend: () => boolean;
}

/** Delivers events to one receiver while this process holds the lease of its webhook. */
export interface DeliveryWorker {
  /** Looks for requested replays. */
  readonly notifyOfReplays: () => void;
  /** Starts no further attempt. Resolves when the attempts in flight have ended or, after `withinMs`, were aborted. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Set when the worker has stopped by itself: `failed` after a storage error. */
  readonly endState: () => 'failed' | 'over' | undefined;
}

/** Maximum number of attempts in flight. They are for different keys, except replays. */
const maxConcurrent = 8;
/** Maximum number of retries and replays among them, so that keys whose attempts time out leave slots to other keys. */
const maxConcurrentRetries = 4;
const maxDeadLetters = 1_000;
const pageSize = 100;
const saveIntervalMs = 5_000;

/**
 * Starts the worker. It moves new events from the change feed to the table of deliveries while the receiver keeps up, and
 * sends what is due there.
 */
export function createDeliveryWorker(
  { webhook, cursor: startCursor }: LeasedWebhook,
  deps: DeliveryWorkerDeps,
): DeliveryWorker {
  const { client, store, feed, holder, storage } = deps;
  const log = deps.log.child({ webhook: webhook.id });
  const breaker = createCircuitBreaker();
  const abort = new AbortController();
  // Each open request has a listener.
  setMaxListeners(0, abort.signal);
  const control = { abort: abort.signal, maySend: deps.maySend };
  const attemptDeps = { ...deps, webhook, control, mayAttempt, breaker, log };
  const wakeEvent = createAsyncEvent();
  const inFlight = new Map<string, Promise<void>>();
  let retriesInFlight = 0;
  let cursor = startCursor;
  let savedMs = Date.now();
  let mayHaveMore = true;
  let isAwake = true;
  let isStopping = false;
  let hasFailed = false;
  let hasEnded = false;

  function wake(): void {
    isAwake = true;
    wakeEvent.set();
  }

  function end(): void {
    isStopping = true;
    wake();
  }

  /** Ends the worker after a storage error. The dispatcher starts another one. */
  function fail(error: unknown): void {
    if (!isStopping) log.error({ err: error }, 'deliveries of the webhook stopped; they restart in a few seconds');
    hasFailed = true;
    end();
    abort.abort();
  }

  async function pause(reason: string): Promise<void> {
    log.error({ why: reason }, 'webhook paused');
    const paused = { at: new Date(Date.now()), why: reason };
    await storage(() => store.change(webhook.id, (found) => (found.paused ? found : { ...found, paused })));
    end();
  }

  async function record(results: DeliveryResults): Promise<void> {
    if (await storage(() => store.recordResults(holder, webhook.id, results))) return;
    log.warn('the lease of the webhook has ended');
    end();
    abort.abort();
  }

  /** Starts deliveries that are due and reads new events. Returns the milliseconds until the next is due. */
  async function startDeliveries(): Promise<number | undefined> {
    const pauseMs = breaker.remainingPauseMs();
    if (pauseMs > 0) return pauseMs;
    // Taken before the read, which may return deliveries in a state before their attempt in flight.
    const busy = new Set(inFlight.keys());
    const free = maxConcurrent - busy.size;
    if (free === 0) return undefined;
    const found = await readNext();
    if (isStopping) return undefined;
    const idle = found.filter((delivery) => !busy.has(nameOf(delivery)));
    const msUntil = ({ dueMs = Infinity }: Delivery) => Math.max(0, dueMs - Date.now());
    const due = idle.filter((delivery) => msUntil(delivery) === 0).slice(0, free);
    const permitted = due.filter(start);
    // The page was full of retries: the next one has none.
    if (permitted.length < due.length) return 0;
    if (inFlight.size >= maxConcurrent) return undefined;
    const canTakeMore = due.length < free && (found.length === 0 || !breaker.isOpen());
    if (canTakeMore && mayHaveMore) {
      await enqueueNewEvents();
      return 0;
    }
    const [next] = idle.filter((delivery) => !due.includes(delivery));
    return next && msUntil(next);
  }

  function mayRetry(): boolean {
    return breaker.isOpen() || retriesInFlight < maxConcurrentRetries;
  }

  /** During an outage only events that were tried before are sent, as long as there are any. */
  async function readNext(): Promise<readonly Delivery[]> {
    const read = (kind: DeliveryKind) => storage(() => store.nextDeliveries(webhook.id, maxConcurrent, kind));
    const retries = breaker.isOpen() ? await read('retry') : [];
    return retries.length > 0 ? retries : read(mayRetry() ? 'any' : 'first');
  }

  /** Starts an attempt. False if there are too many retries already. */
  function start(delivery: Delivery): boolean {
    const isRetry = delivery.attempts > 0 || delivery.state === 'dead';
    if (isRetry && !mayRetry()) return false;
    if (isRetry) retriesInFlight += 1;
    const name = nameOf(delivery);
    const work = deliver(delivery)
      .catch(fail)
      .finally(() => {
        inFlight.delete(name);
        if (isRetry) retriesInFlight -= 1;
        wake();
      });
    inFlight.set(name, work);
    return true;
  }

  /** Reads a page of the change feed and saves its events as deliveries together with the cursor. */
  async function enqueueNewEvents(): Promise<void> {
    mayHaveMore = false;
    const { orgID } = webhook;
    const query = { after: cursor, limit: pageSize, ...(orgID !== undefined && { orgID }) };
    const page = await storage(() => feed.read(query));
    if (isStopping) return;
    // A notification may have arrived meanwhile.
    if (page.hasMore) mayHaveMore = true;
    const hasMoved = page.cursor !== cursor;
    cursor = page.cursor;
    if (page.events.length > 0) {
      // A key that is created again after a purge repeats its versions: the result of an earlier one must not apply to it.
      for (const { keyHash, entry } of page.events) if (entry?.versionBefore === 0) await inFlight.get(keyHash);
      await record({ cursor, enqueued: { spans: spansOf(page.events), dueMs: Date.now() } });
      savedMs = Date.now();
    } else if (hasMoved && Date.now() - savedMs > saveIntervalMs) {
      // Events of other organisations only move the cursor, which is saved at intervals.
      await record({ cursor });
      savedMs = Date.now();
    }
  }

  /** Whether the lease is still held: a command that changes the webhook recalls it, so that no later attempt uses the old state. */
  async function mayAttempt(): Promise<boolean> {
    if (!(await storage(() => store.hasLease(holder, webhook.id)))) end();
    return !isStopping;
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const { results, pauseReason } = await attemptDelivery(delivery, attemptDeps);
    if (results) await record(results);
    if (pauseReason !== undefined) return pause(pauseReason);
    if (!results?.dead) return;
    const stats = await storage(() => store.deliveryStats());
    const { deadLetters = 0 } = stats.find(({ webhookID }) => webhookID === webhook.id) ?? {};
    if (deadLetters >= maxDeadLetters) await pause(`${deadLetters} events were given up; replay or discard them`);
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      isAwake = false;
      const waitMs = await startDeliveries();
      if (!isAwake) await wakeEvent.wait(waitMs);
    }
  }

  const unsubscribe = feed.subscribe(() => {
    mayHaveMore = true;
    wake();
  });
  const over = run()
    .catch(fail)
    .then(() => Promise.all(inFlight.values()))
    .finally(() => {
      hasEnded = true;
      unsubscribe();
      client.close();
    });

  return {
    notifyOfReplays: wake,
    endState: () => (hasFailed ? 'failed' : hasEnded ? 'over' : undefined),
    async stop(withinMs) {
      end();
      const timer = setTimeout(() => abort.abort(), withinMs);
      await over;
      clearTimeout(timer);
    },
  };
}

/** Names a delivery among those in flight. */
function nameOf({ keyHash, eventID }: Delivery): string {
  return eventID === '' ? keyHash : eventID;
}

/** Returns the events by key. Versions that do not follow are of a key that was created again after a purge. */
function spansOf(events: readonly ChangeEvent[]): readonly EventSpan[] {
  const spans = new Map<string, EventSpan>();
  for (const { keyHash, version } of events) {
    const earlier = spans.get(keyHash);
    const first = earlier && version > earlier.lastVersion ? earlier.version : version;
    spans.set(keyHash, { keyHash, version: first, lastVersion: version });
  }
  return [...spans.values()];
}
