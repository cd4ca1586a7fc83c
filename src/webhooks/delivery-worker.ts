import { setMaxListeners } from 'node:events';
import type { LimitFunction } from 'p-limit';
import type { ChangeEvent, ChangeFeed } from '../keys/change-feed.js';
import type { KeyRevision } from '../keys/key.js';
import type { KeyStore } from '../keys/ports.js';
import { createAsyncEvent } from '../lib/async-event.js';
import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import { attemptDelivery } from './delivery-attempt.js';
import { eventIDOf, unverifiedEventIDOf, type RenderChange } from './event.js';
import { retryDelayMs, type RetryPolicy } from './retry-policy.js';
import type { SignedSender } from './sign-and-send.js';
import type { Delivery, DeliveryResults, EventSpan, LeasedWebhook, WebhookStore } from './webhook.js';

/** What the delivery workers of one process need. */
export interface DeliveryWorkerDeps {
  readonly store: Pick<WebhookStore, 'hasLease' | 'recordResults' | 'nextDeliveries' | 'change' | 'deliveryStats'>;
  readonly history: Pick<KeyStore, 'historyOf'>;
  readonly feed: Pick<ChangeFeed, 'read'>;
  readonly holder: string;
  /** False after the lease has ended by the monotonic clock of this process. */
  readonly maySend: () => boolean;
  readonly log: Logger;
  readonly meter: Meter | undefined;
  readonly renderChange: RenderChange;
  readonly retryPolicy: RetryPolicy;
  /** Limits the concurrent storage calls of all delivery workers. */
  readonly storage: LimitFunction;
  readonly clockMs: () => number;
  readonly random: () => number;
}

/** Delivers events to one receiver while this process holds the lease of its webhook. */
export interface DeliveryWorker {
  /** The change feed may contain more. */
  readonly notifyOfChanges: () => void;
  /** Replays may have been requested. */
  readonly notifyOfReplays: () => void;
  /** Starts no further attempt. Resolves when the attempts in flight have ended or, after `withinMs`, were aborted. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Set when the worker has stopped by itself: `failed` after a storage error. */
  readonly endState: () => 'failed' | 'over' | undefined;
}

/** Maximum number of attempts in flight. They are for different keys, except replays. */
const maxConcurrent = 8;
/** Failures of this many different keys without a success count as an outage: only retries and replays are sent. */
const failedKeysOfOutage = 16;
const maxDeadLetters = 1_000;
const pageSize = 100;
const saveIntervalMs = 5_000;
const integrityError = 'its history entry fails the integrity check';

/**
 * Starts the worker. It moves new events from the change feed to the table of deliveries while the receiver keeps up, and
 * sends what is due there.
 */
export function createDeliveryWorker(
  { webhook, cursor: startCursor }: LeasedWebhook,
  send: SignedSender,
  deps: DeliveryWorkerDeps,
): DeliveryWorker {
  const { store, history, feed, holder, meter, retryPolicy, storage, clockMs, random } = deps;
  const log = deps.log.child({ webhook: webhook.id });
  const breaker = createCircuitBreaker(failedKeysOfOutage, clockMs);
  const abort = new AbortController();
  // One listener for each attempt in flight.
  setMaxListeners(maxConcurrent + 1, abort.signal);
  const attemptDeps = { ...deps, send, breaker, log, control: { abort: abort.signal, maySend: deps.maySend } };
  const wakeEvent = createAsyncEvent();
  const inFlight = new Map<string, Promise<void>>();
  let cursor = startCursor;
  let savedMs = clockMs();
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
    const paused = { at: new Date(clockMs()), why: reason };
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
    const msUntil = ({ dueMs = Infinity }: Delivery) => Math.max(0, dueMs - clockMs());
    const due = idle.filter((delivery) => msUntil(delivery) === 0).slice(0, free);
    for (const delivery of due) start(delivery);
    if (inFlight.size >= maxConcurrent) return undefined;
    const canTakeMore = due.length < free && (found.length === 0 || !breaker.isOpen());
    if (canTakeMore && mayHaveMore) {
      await enqueueNewEvents();
      return 0;
    }
    const [next] = idle.filter((delivery) => !due.includes(delivery));
    return next && msUntil(next);
  }

  /** During an outage only events that were tried before are sent, as long as there are any. */
  async function readNext(): Promise<readonly Delivery[]> {
    const read = (retriesOnly: boolean) => storage(() => store.nextDeliveries(webhook.id, maxConcurrent, retriesOnly));
    const retries = breaker.isOpen() ? await read(true) : [];
    return retries.length > 0 ? retries : read(false);
  }

  function start(delivery: Delivery): void {
    const name = nameOf(delivery);
    const work = deliver(delivery)
      .catch(fail)
      .finally(() => {
        inFlight.delete(name);
        wake();
      });
    inFlight.set(name, work);
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
      await record({ cursor, enqueued: { spans: spansOf(page.events), dueMs: clockMs() } });
      savedMs = clockMs();
    } else if (hasMoved && clockMs() - savedMs > saveIntervalMs) {
      // Events of other organisations only move the cursor, which is saved at intervals.
      await record({ cursor });
      savedMs = clockMs();
    }
  }

  /** Makes one attempt for the next event of a delivery, and records its result. */
  async function deliver(delivery: Delivery): Promise<void> {
    const { keyHash, version } = delivery;
    const entry = await readEntry(delivery);
    if (entry === 'purged') {
      log.warn({ keyHash, version }, 'the key has been purged with its undelivered events');
      return record({ removed: delivery });
    }
    if (entry === 'damaged') {
      log.error({ keyHash, version, why: integrityError }, 'webhook event cannot be sent');
      return recordFailure(delivery, unverifiedEventIDOf(keyHash, version), integrityError, undefined);
    }
    // A command that changes the webhook recalls the lease, so that no later attempt uses the old state.
    if (!(await storage(() => store.hasLease(holder, webhook.id)))) end();
    if (isStopping) return;
    const wasOpen = breaker.isOpen();
    const result = await attemptDelivery(entry, attemptDeps);
    if (!result) return;
    const { status, detail, retryAfterMs } = result;
    if (status === 'gone') return pause('the receiver returned 410 Gone');
    if (status === 'failed') return recordFailure(delivery, eventIDOf(entry), detail, retryAfterMs);
    const nowMs = clockMs();
    await record({ advanced: { ...delivery, dueMs: nowMs }, ...(wasOpen && { retryAllMs: nowMs }) });
  }

  /** Reads the history entry of the next event of a delivery. */
  async function readEntry({ keyHash, eventID, version }: Delivery): Promise<KeyRevision | 'damaged' | 'purged'> {
    try {
      const [entry] = await storage(() => history.historyOf(keyHash, { after: version - 1, limit: 1 }));
      // After a purge, the identifier may belong to another key, even of another organisation.
      if (entry?.versionAfter !== version) return 'purged';
      if (webhook.orgID !== undefined && entry.orgID !== webhook.orgID) return 'purged';
      const isSame = eventID === '' || [eventIDOf(entry), unverifiedEventIDOf(keyHash, version)].includes(eventID);
      return isSame ? entry : 'purged';
    } catch (error) {
      if (errorCodeOf(error) !== 'INTERNAL') throw error;
      return 'damaged';
    }
  }

  /** Schedules the next attempt, or makes the event a dead letter. */
  async function recordFailure(
    delivery: Delivery,
    eventID: string,
    detail: string,
    retryAfterMs: number | undefined,
  ): Promise<void> {
    const { keyHash, version } = delivery;
    const nowMs = clockMs();
    const attempts = delivery.attempts + 1;
    const failed = { ...delivery, attempts, lastError: detail, failedAt: new Date(nowMs), dueMs: undefined };
    if (attempts < retryPolicy.maxAttempts) {
      return record({
        failed: { ...failed, dueMs: nowMs + retryDelayMs(retryPolicy, attempts, retryAfterMs, random) },
      });
    }
    log.error({ event: eventID, keyHash, version, why: detail }, 'webhook event given up');
    if (delivery.state === 'dead') return record({ failed });
    meter?.webhookAttempted('dead');
    const advanced = { ...delivery, dueMs: nowMs };
    await record({ advanced, dead: { ...failed, state: 'dead', eventID, lastVersion: version } });
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

  const over = run()
    .catch(fail)
    .then(() => Promise.all(inFlight.values()))
    .finally(() => {
      hasEnded = true;
      send.close();
    });

  return {
    notifyOfChanges() {
      mayHaveMore = true;
      wake();
    },
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
