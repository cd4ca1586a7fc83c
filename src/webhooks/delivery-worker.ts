import { setMaxListeners } from 'node:events';
import type { LimitFunction } from 'p-limit';
import type { ChangeEvent, ChangeFeed } from '../keys/change-feed.js';
import type { KeyStore } from '../keys/ports.js';
import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import {
  eventIDOf,
  eventTypeOf,
  messageOf,
  noticeMessageOf,
  unverifiedEventIDOf,
  type WebhookMessage,
} from './event.js';
import type { WebhookClient } from './http-client.js';
import { maxRetryDelayMs, retryDelayMs, type RetryPolicy } from './retry-policy.js';
import type {
  Webhook,
  Delivery,
  DeliveryKind,
  DeliveryResults,
  EventSpan,
  LeasedWebhook,
  UnsentNotice,
  WebhookStore,
} from './webhook.js';

/** Dependencies of a delivery worker. */
export interface DeliveryWorkerDeps {
  readonly store: WebhookStore;
  readonly history: Pick<KeyStore, 'historyOf' | 'notice'>;
  readonly feed: Pick<ChangeFeed, 'read' | 'subscribe'>;
  readonly client: WebhookClient;
  readonly holder: string;
  readonly retryPolicy: RetryPolicy;
  /** Limits the concurrent storage calls of all delivery workers. */
  readonly storage: LimitFunction;
  readonly log: Logger;
  readonly meter?: Meter | undefined;
}

/** Delivers events to one receiver while this process holds the lease of its webhook. */
export interface DeliveryWorker {
  /**
   * Extends the lease and reads requested replays.
   *
   * @param endsMs - end of the lease by the monotonic clock of this process; attempts in flight are aborted then
   */
  readonly renewLease: (endsMs: number) => void;
  /** Starts no further attempt. Resolves when the attempts in flight have ended or, after `withinMs`, were aborted. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Whether it starts no further attempt: its webhook was paused or changed, its lease has ended, or storage has failed. */
  readonly isStopping: () => boolean;
}

/** Maximum number of attempts in flight. They are for different keys, except replays. */
const maxConcurrent = 8;
/** Maximum number of retries and replays among them, so that keys whose attempts time out leave slots to other keys. */
const maxConcurrentRetries = 4;
const maxDeadLetters = 1_000;
const pageSize = 100;
const saveIntervalMs = 5_000;
/** How far the clocks of two hosts may differ, or a clock may be adjusted, without effect on the due times. */
const clockToleranceMs = 60_000;
/** Maximum delay of a Node timer. */
const maxTimerMs = 2_147_483_647;

/**
 * Starts the worker. It moves new events from the change feed to the table of deliveries while the receiver keeps up, and
 * sends due deliveries.
 *
 * @param leaseEndsMs - as of `renewLease`
 */
export function createDeliveryWorker(
  { webhook, cursor: startCursor }: LeasedWebhook,
  leaseEndsMs: number,
  deps: DeliveryWorkerDeps,
): DeliveryWorker {
  const { client, store, history, feed, holder, retryPolicy, storage, meter } = deps;
  const log = deps.log.child({ webhook: webhook.id });
  const breaker = createCircuitBreaker();
  const abort = new AbortController();
  // Each open request has a listener.
  setMaxListeners(0, abort.signal);
  const control = { abort: abort.signal, maySend: () => performance.now() < leaseEndsMs };
  const inFlight = new Map<string, Promise<void>>();
  let retriesInFlight = 0;
  let cursor = startCursor;
  let savedMs = performance.now();
  /** The clock of the host by the monotonic one, when the due times were compared with it. */
  let clockMs = Infinity;
  /** No attempt starts before this has ended: an event that fails meanwhile would be due at once again. */
  let retrying: Promise<unknown> = Promise.resolve();
  let mayHaveMore = true;
  let isStopping = false;
  let leaseTimer: NodeJS.Timeout | undefined;
  /** Ends the wait of the main loop, or its next wait if it has none now. */
  let wake = (): void => undefined;

  function renewLease(endsMs: number): void {
    leaseEndsMs = endsMs;
    clearTimeout(leaseTimer);
    leaseTimer = setTimeout(loseLease, Math.max(0, endsMs - performance.now())).unref();
    wake();
  }

  /** Stops at once, because another process may deliver from now on. */
  function loseLease(): void {
    if (!isStopping) log.warn('the lease of the webhook has ended');
    end();
    abort.abort();
  }

  function end(): void {
    isStopping = true;
    wake();
  }

  /** Ends the worker after a storage error. The dispatcher starts another one. */
  function fail(error: unknown): void {
    if (!isStopping) log.error({ err: error }, 'deliveries of the webhook stopped; they restart in a few seconds');
    end();
    abort.abort();
  }

  async function pause(reason: string): Promise<void> {
    log.error({ why: reason }, 'webhook paused');
    const paused = { at: new Date(), why: reason };
    await storage(() => store.change(webhook.id, (found) => (found.paused ? found : { ...found, paused })));
    end();
  }

  async function record(results: DeliveryResults): Promise<void> {
    if (!(await storage(() => store.recordResults(holder, webhook.id, results)))) loseLease();
  }

  /** Starts deliveries that are due and reads new events. Returns the milliseconds until the next is due. */
  async function startDeliveries(): Promise<number | undefined> {
    const pauseMs = breaker.remainingPauseMs();
    if (pauseMs > 0) return pauseMs;
    // Taken before the read, which may return deliveries in a state before their attempt in flight.
    const busy = new Set(inFlight.keys());
    const free = maxConcurrent - busy.size;
    if (free === 0) return undefined;
    await retrying;
    await correctDueTimes();
    const found = await readNext();
    if (isStopping) return undefined;
    const idle = found.filter((delivery) => !busy.has(nameOf(delivery)));
    const msUntil = ({ dueMs = Infinity }: Delivery) => Math.max(0, dueMs - Date.now());
    const due = idle.filter((delivery) => msUntil(delivery) === 0).slice(0, free);
    const permitted = due.filter(start);
    // If the page had only retries, the next has none.
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

  /**
   * Makes events due now that are due later than any delay permits, because the clock was ahead when they failed or were
   * read: at the start, and when the clock was set back.
   */
  async function correctDueTimes(): Promise<void> {
    const nowMs = Date.now();
    const beforeMs = clockMs;
    clockMs = nowMs - performance.now();
    if (clockMs > beforeMs - clockToleranceMs) return;
    const latest = [
      ['first', nowMs + clockToleranceMs],
      ['retry', nowMs + maxRetryDelayMs(retryPolicy) + clockToleranceMs],
    ] as const;
    for (const [kind, latestMs] of latest) {
      const count = await storage(() => store.bringForward(webhook.id, kind, latestMs, nowMs));
      if (count > 0)
        log.warn({ count }, 'webhook events were due too late, because the clock was ahead; they are due now');
    }
  }

  /** Makes all retries due now, because the outage of the receiver has ended. */
  function retryAll(): Promise<unknown> {
    retrying = retrying.then(() => {
      const nowMs = Date.now();
      return storage(() => store.bringForward(webhook.id, 'retry', nowMs, nowMs));
    });
    return retrying;
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
    const events = page.events.filter((event) => isWanted(event, webhook.eventTypes));
    // A key that is created again after a purge repeats its versions: the result of an earlier one must not apply to it.
    for (const { keyHash, version } of page.events) if (version === 1) await inFlight.get(keyHash);
    if (events.length > 0) {
      const enqueued = { spans: spansOf(events), notices: noticesOf(events), dueMs: Date.now() };
      await record({ cursor, enqueued });
      savedMs = performance.now();
    } else if (hasMoved && performance.now() - savedMs > saveIntervalMs) {
      // Events of other organizations and types only move the cursor, which is saved at intervals.
      await record({ cursor });
      savedMs = performance.now();
    }
  }

  /** Makes one attempt to deliver the next event of a delivery. */
  async function deliver(delivery: Delivery): Promise<void> {
    const { keyHash, version } = delivery;
    const message = await storage(() => readMessage(history, delivery, webhook));
    // Between events of the key that are to be sent.
    if (message === 'unwanted') return record({ advanced: { ...delivery, dueMs: Date.now() } });
    if (message === 'purged') {
      log.warn({ keyHash, version }, 'the key has been purged with its undelivered events');
      return record({ removed: delivery });
    }
    if (message === 'damaged') {
      log.error({ keyHash, version, why: integrityError }, 'webhook event cannot be sent');
      return recordFailure(delivery, delivery.eventID || unverifiedEventIDOf(keyHash, version), integrityError);
    }
    // A command that changes the webhook recalls the lease, so that no later attempt uses the state before.
    if (!(await storage(() => store.hasLease(holder, webhook.id)))) end();
    if (isStopping) return;
    const wasOpen = breaker.isOpen();
    const { status, isDelivered, retryAfterMs, description } = await client.send(message, control);
    if (abort.signal.aborted) return;
    meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
    log[isDelivered ? 'debug' : 'warn']({ event: message.id, keyHash, version, why: description }, 'webhook attempt');
    if (isDelivered) {
      breaker.recordSuccess();
      const dueMs = Date.now();
      await record({ advanced: { ...delivery, dueMs } });
      if (wasOpen) await retryAll();
      return;
    }
    breaker.recordFailure(keyHash, [429, 503].includes(status) ? retryAfterMs : undefined);
    if (status === 410) return pause('the receiver returned 410 Gone');
    return recordFailure(delivery, message.id, description, retryAfterMs);
  }

  /** Schedules the next attempt, or makes the event a dead letter. */
  async function recordFailure(delivery: Delivery, eventID: string, lastError: string, retryAfterMs?: number) {
    const { keyHash, version } = delivery;
    const nowMs = Date.now();
    const attempts = delivery.attempts + 1;
    const failed = { ...delivery, attempts, lastError, failedAt: new Date(nowMs), dueMs: undefined };
    if (attempts < retryPolicy.maxAttempts) {
      return record({ failed: { ...failed, dueMs: nowMs + retryDelayMs(retryPolicy, attempts, retryAfterMs) } });
    }
    log.error({ event: eventID, keyHash, version, why: lastError }, 'webhook event given up');
    if (delivery.state === 'dead') return record({ failed });
    meter?.webhookAttempted('dead');
    const dead = { ...failed, state: 'dead', eventID, lastVersion: version } as const;
    await record({ advanced: { ...delivery, dueMs: nowMs }, dead });
    const deadLetters = await storage(() => store.countDeadLetters(webhook.id, maxDeadLetters));
    if (deadLetters >= maxDeadLetters) await pause(`${deadLetters} events were given up; replay or discard them`);
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const waitMs = await startDeliveries();
      const timer = setTimeout(wake, Math.min(waitMs ?? Infinity, maxTimerMs)).unref();
      await woken;
      clearTimeout(timer);
    }
  }

  const unsubscribe = feed.subscribe(() => {
    mayHaveMore = true;
    wake();
  });
  renewLease(leaseEndsMs);
  const over = run()
    .catch(fail)
    .then(() => Promise.all(inFlight.values()))
    .finally(() => {
      clearTimeout(leaseTimer);
      unsubscribe();
      client.close();
    });

  return {
    renewLease,
    isStopping: () => isStopping,
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

/** Whether an event is of these types. One that cannot be read is sent as a dead letter. */
function isWanted(event: Pick<ChangeEvent, 'entry' | 'notice'>, eventTypes: readonly string[] | undefined): boolean {
  const type = eventTypeOf(event);
  return eventTypes === undefined || type === undefined || eventTypes.includes(type);
}

/** Returns the events by key. Versions that do not follow are of a key that was created again after a purge. */
function spansOf(events: readonly ChangeEvent[]): readonly EventSpan[] {
  const spans = new Map<string, EventSpan>();
  for (const { keyHash, version, noticeID } of events) {
    if (noticeID !== undefined) continue;
    const earlier = spans.get(keyHash);
    const first = earlier && version > earlier.lastVersion ? earlier.version : version;
    spans.set(keyHash, { keyHash, version: first, lastVersion: version });
  }
  return [...spans.values()];
}

function noticesOf(events: readonly ChangeEvent[]): UnsentNotice[] {
  return events.flatMap(({ keyHash, noticeID }) => (noticeID === undefined ? [] : [{ keyHash, eventID: noticeID }]));
}

const integrityError = 'its history entry fails the integrity check';

/** Reads the next event of a delivery. After a purge, versions may be of another key. A notice is removed some time after it. */
async function readMessage(
  history: DeliveryWorkerDeps['history'],
  { keyHash, eventID, version }: Delivery,
  { orgID, eventTypes }: Pick<Webhook, 'orgID' | 'eventTypes'>,
): Promise<WebhookMessage | 'damaged' | 'purged' | 'unwanted'> {
  try {
    if (version === 0) {
      const notice = await history.notice(eventID);
      const isOfAnother = notice?.keyHash !== keyHash || (orgID !== undefined && notice.orgID !== orgID);
      if (isOfAnother) return 'purged';
      return isWanted({ entry: undefined, notice }, eventTypes) ? noticeMessageOf(notice) : 'unwanted';
    }
    const [entry] = await history.historyOf(keyHash, { after: version - 1, limit: 1 });
    if (entry?.versionAfter !== version || (orgID !== undefined && entry.orgID !== orgID)) return 'purged';
    const isSame = eventID === '' || [eventIDOf(entry), unverifiedEventIDOf(keyHash, version)].includes(eventID);
    if (!isSame) return 'purged';
    return isWanted({ entry }, eventTypes) ? messageOf(entry) : 'unwanted';
  } catch (error) {
    if (errorCodeOf(error) !== 'INTERNAL') throw error;
    return 'damaged';
  }
}
