import { setMaxListeners } from 'node:events';
import { codeOf } from '../lib/errors.js';
import type { ChangeEvent, ChangeFeed } from '../keys/change-feed.js';
import type { KeyRevision } from '../keys/key.js';
import type { KeyStore } from '../keys/ports.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { DeadLetter, RetryState, LeasedWebhook, Settlement, WebhookStore } from './webhook.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import type { LimitFunction } from 'p-limit';
import { eventIDOf, messageOf, unverifiedEventIDOf, type RenderChange } from './event.js';
import type { SignedSender } from './sign-and-send.js';
import { parseRetryAfterMs, retryDelayMs, type RetryPolicy } from './retry-policy.js';
import type { AttemptOutcome } from './http-client.js';
import { createAsyncEvent } from '../lib/async-event.js';

export interface DeliveryWorkerDeps {
  readonly store: Pick<WebhookStore, 'hasLease' | 'settle' | 'retryStates' | 'dueReplays' | 'change' | 'deliveryStats'>;
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
  /** Reads the change feed again. */
  readonly notifyOfChanges: () => void;
  /** Looks for requested replays. */
  readonly notifyOfReplays: () => void;
  /** Starts no further attempt. Resolves when the attempts in flight have ended or, after `withinMs`, were aborted. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Set when the worker has stopped by itself: `failed` after a storage error. */
  readonly endState: () => 'failed' | 'over' | undefined;
}

const pageSize = 100;
const maxConcurrentKeys = 8;
const maxConcurrentRetries = 4;
/** Waiting events are read, and recorded as delivered, in pages of this size. After a crash a page is sent again. */
const retryPageSize = 20;
/** At this number of retry states no new event is sent, because all of them are held in memory. */
const maxRetryingKeys = 1_000;
/** Failures of this many different keys without a success count as an outage: only retries are sent. */
const failedKeysOfOutage = 16;
const maxDeadLetters = 1_000;
const replayPageSize = 20;
const saveIntervalMs = 5_000;
const integrityError = 'its history entry fails the integrity check';

type AttemptStatus = 'delivered' | 'failed' | 'gone' | 'none';

interface AttemptResult {
  readonly status: AttemptStatus;
  readonly detail: string;
  readonly retryAfterMs: number | undefined;
}

/** The result for an event whose history entry fails its integrity check. */
const failedIntegrityCheck: AttemptResult = { status: 'failed', detail: integrityError, retryAfterMs: undefined };

export function createDeliveryWorker(
  { webhook, cursor: start }: LeasedWebhook,
  post: SignedSender,
  deps: DeliveryWorkerDeps,
): DeliveryWorker {
  const { store, history, feed, holder, maySend, meter, renderChange, retryPolicy, storage, clockMs, random } = deps;
  const log = deps.log.child({ webhook: webhook.id });
  const retryStates = new Map<string, RetryState>();
  const retryingKeys = new Set<string>();
  const breaker = createCircuitBreaker(failedKeysOfOutage, clockMs);
  /** Set if the feed may contain more. */
  const feedEvent = createAsyncEvent();
  /** Set if replays may be requested. */
  const replayEvent = createAsyncEvent();
  /** Set after every change of the retry states or the circuit breaker. */
  const stateEvent = createAsyncEvent();
  const abort = new AbortController();
  // One listener for each attempt in flight.
  setMaxListeners(maxConcurrentKeys + maxConcurrentRetries + 1, abort.signal);
  let cursor = start;
  let savedMs = clockMs();
  let isStopping = false;
  let hasEnded = false;
  let hasFailed = false;
  let deadLetters = 0;
  let writing: Promise<void> = Promise.resolve();

  function end(): void {
    isStopping = true;
    for (const one of [feedEvent, replayEvent, stateEvent]) one.set();
  }

  function setRetryState(key: RetryState): void {
    retryStates.set(key.keyHash, key);
    stateEvent.set();
  }

  function clearRetryState(keyHash: string): void {
    retryStates.delete(keyHash);
    // `untilMayBegin` waits for the last one.
    stateEvent.set();
  }

  /** Writes the retry states of keys, as they are when the write starts. Writes run one after the other. */
  function settle(keys: Iterable<string>, more: Settlement = {}): Promise<void> {
    const write = writing.then(async () => {
      if (hasEnded) return;
      const [waiting, done]: [RetryState[], string[]] = [[], []];
      for (const key of keys) {
        const found = retryStates.get(key);
        if (found) waiting.push(found);
        else done.push(key);
      }
      const isHeld = await storage(() => store.settle(holder, webhook.id, { ...more, failing: waiting, done }));
      if (isHeld) return;
      log.warn('the lease of the webhook has ended');
      end();
      abort.abort();
    });
    writing = write.catch(() => undefined);
    return write;
  }

  /** Makes one attempt to deliver the event of a history entry. */
  async function attempt(entry: KeyRevision): Promise<AttemptResult> {
    // Defence in depth: storage was asked for events of this organisation only.
    if (webhook.orgID !== undefined && entry.orgID !== webhook.orgID)
      throw new Error('The event belongs to another organisation.');
    const none = { status: 'none', detail: '', retryAfterMs: undefined } as const;
    const message = messageOf(entry, renderChange);
    // A command that changes the webhook recalls the lease, so that no later attempt uses the old state.
    if (!(await storage(() => store.hasLease(holder, webhook.id)))) end();
    if (isStopping) return none;
    const outcome = await post(message, { abort: abort.signal, maySend });
    if (isStopping && abort.signal.aborted) return none;
    const isDelivered = 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
    const detail = describeOutcome(outcome);
    const { keyHash, versionAfter } = entry;
    meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
    log[isDelivered ? 'debug' : 'warn'](
      { event: message.id, keyHash, version: versionAfter, why: detail },
      'webhook attempt',
    );
    if (isDelivered) {
      breaker.recordSuccess();
      stateEvent.set();
      return { status: 'delivered', detail, retryAfterMs: undefined };
    }
    const retryAfterMs = 'status' in outcome ? parseRetryAfterMs(outcome.retryAfter, clockMs()) : undefined;
    breaker.recordFailure(
      keyHash,
      'status' in outcome && [429, 503].includes(outcome.status) ? retryAfterMs : undefined,
    );
    if ('status' in outcome && outcome.status === 410) {
      await pause('the receiver returned 410 Gone');
      return { status: 'gone', detail, retryAfterMs };
    }
    return { status: 'failed', detail, retryAfterMs };
  }

  async function pause(detail: string): Promise<void> {
    log.error({ why: detail }, 'webhook paused');
    const at = new Date(clockMs());
    await storage(() =>
      store.change(webhook.id, (found) => (found.paused ? found : { ...found, paused: { at, why: detail } })),
    );
    end();
  }

  /**
   * Records a failed attempt: schedules the next one, or makes the event a dead letter and advances to the next event.
   *
   * @param entry undefined if it fails its integrity check, which counts as a failed attempt
   */
  async function recordFailure(
    key: RetryState,
    entry: KeyRevision | undefined,
    detail: string,
    retryAfterMs?: number,
  ): Promise<void> {
    if (!entry)
      log.error({ keyHash: key.keyHash, version: key.nextVersion, why: detail }, 'webhook event cannot be sent');
    const attempts = key.attempts + 1;
    if (attempts < retryPolicy.maxAttempts) {
      const dueMs = clockMs() + retryDelayMs(retryPolicy, attempts, retryAfterMs, random);
      setRetryState({ ...key, attempts, dueMs, lastError: detail });
      return settle([key.keyHash]);
    }
    const letter: DeadLetter = {
      eventID: entry ? eventIDOf(entry) : unverifiedEventIDOf(key.keyHash, key.nextVersion),
      webhookID: webhook.id,
      keyHash: key.keyHash,
      version: key.nextVersion,
      diedAt: new Date(clockMs()),
      attempts,
      lastError: detail,
      dueMs: undefined,
    };
    log.error(
      { event: letter.eventID, keyHash: key.keyHash, version: key.nextVersion, why: detail },
      'webhook event given up',
    );
    meter?.webhookAttempted('dead');
    advance(key);
    await settle([key.keyHash], { dead: [letter] });
    deadLetters += 1;
    if (deadLetters < maxDeadLetters) return;
    // A command may have discarded dead letters meanwhile.
    deadLetters = await countDeadLetters();
    if (deadLetters >= maxDeadLetters) await pause(`${deadLetters} events were given up; replay or discard them`);
  }

  async function countDeadLetters(): Promise<number> {
    const standings = await storage(() => store.deliveryStats());
    return standings.find(({ webhookID }) => webhookID === webhook.id)?.deadLetters ?? 0;
  }

  /** Advances a key to its next event. */
  function advance(key: RetryState): void {
    // Further events may have been enqueued during the attempt.
    const lastVersion = retryStates.get(key.keyHash)?.lastVersion ?? key.lastVersion;
    if (key.nextVersion >= lastVersion) clearRetryState(key.keyHash);
    else
      setRetryState({
        ...key,
        lastVersion,
        nextVersion: key.nextVersion + 1,
        attempts: 0,
        dueMs: clockMs(),
        lastError: '',
      });
  }

  /** Enqueues an event behind earlier ones of its key. Its entry is read from the history before it is sent. */
  function enqueue(key: RetryState, { version, entry }: ChangeEvent): void {
    // A page that is read again contains earlier versions; a key that is created after a purge starts at version 1.
    if (version < key.nextVersion) {
      const lastVersion = entry?.versionBefore === 0 ? version : key.lastVersion;
      setRetryState({ ...key, nextVersion: version, lastVersion, attempts: 0, dueMs: clockMs() });
    } else setRetryState({ ...key, lastVersion: Math.max(key.lastVersion, version) });
  }

  async function deliverNew(events: readonly ChangeEvent[]): Promise<void> {
    const chains = new Map<string, ChangeEvent[]>();
    for (const event of events) {
      const events = chains.get(event.keyHash);
      if (events) events.push(event);
      else chains.set(event.keyHash, [event]);
    }
    const queues = [...chains.values()];
    const settled = new Set<ChangeEvent>();
    const touched = new Set<string>();
    await Promise.all(
      Array.from({ length: Math.min(maxConcurrentKeys, queues.length) }, async () => {
        for (let events = queues.shift(); events && !isStopping; events = queues.shift()) {
          await deliverInOrder(events, { settled, touched });
        }
      }),
    );
    // If the page was not completed, the next read starts at its first event without a result.
    const open = events.findIndex((event) => !settled.has(event));
    const reached = open === -1 ? cursor : events[open - 1]?.cursor;
    if (reached !== undefined) await settle(touched, { cursor: reached });
    savedMs = clockMs();
  }

  /** Delivers the new events of one key in order, until one fails. */
  async function deliverInOrder(
    events: readonly ChangeEvent[],
    { settled, touched }: { settled: Set<ChangeEvent>; touched: Set<string> },
  ): Promise<void> {
    for (const event of events) {
      const { keyHash, version, entry } = event;
      const waiting = retryStates.get(keyHash);
      if (waiting) {
        enqueue(waiting, event);
        touched.add(keyHash);
        settled.add(event);
        continue;
      }
      await untilMayBegin();
      if (isStopping) return;
      const { status, detail, retryAfterMs } = entry ? await attempt(entry) : failedIntegrityCheck;
      if (status === 'none' || status === 'gone') return;
      settled.add(event);
      if (status === 'delivered') continue;
      const key = {
        keyHash,
        nextVersion: version,
        lastVersion: version,
        attempts: 0,
        dueMs: clockMs(),
        lastError: detail,
      };
      setRetryState(key);
      await recordFailure(key, entry, detail, retryAfterMs);
    }
  }

  /** Waits while the circuit breaker is open or the receiver has requested a pause. */
  async function untilMayBegin(): Promise<void> {
    while (!isStopping) {
      const waitForMs = breaker.remainingPauseMs();
      const isFull = retryStates.size >= maxRetryingKeys || (breaker.isOpen() && retryStates.size > 0);
      if (!isFull && waitForMs === 0) return;
      await stateEvent.wait(isFull ? undefined : waitForMs);
    }
  }

  /** Reads the feed to its end and waits for more events. */
  async function follow(): Promise<void> {
    while (!isStopping) {
      const wasSet = feedEvent.wait(undefined);
      await untilMayBegin();
      if (isStopping) return;
      const page = await storage(() =>
        feed.read({ after: cursor, limit: pageSize, ...(webhook.orgID !== undefined && { orgID: webhook.orgID }) }),
      );
      const hasMoved = page.cursor !== cursor;
      cursor = page.cursor;
      if (page.events.length > 0) await deliverNew(page.events);
      // Events of other organisations move the cursor only, which is saved at intervals.
      else if (hasMoved && clockMs() - savedMs > saveIntervalMs) {
        await settle([], { cursor });
        savedMs = clockMs();
      }
      if (!page.hasMore) await wasSet;
    }
  }

  /** Retries keys when they are due. */
  async function retry(): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!isStopping) {
      const wasSet = stateEvent.wait(msToNextRetry());
      if (breaker.remainingPauseMs() === 0) {
        for (const key of retryStates.values()) {
          if (running.size >= maxConcurrentRetries) break;
          if (retryingKeys.has(key.keyHash) || key.dueMs > clockMs()) continue;
          retryingKeys.add(key.keyHash);
          const work: Promise<void> = retryKey(key.keyHash)
            .catch(fail)
            .finally(() => {
              retryingKeys.delete(key.keyHash);
              running.delete(work);
              stateEvent.set();
            });
          running.add(work);
        }
      }
      await wasSet;
    }
    await Promise.all(running);
  }

  function msToNextRetry(): number | undefined {
    const idle = [...retryStates.values()].filter(({ keyHash }) => !retryingKeys.has(keyHash));
    if (idle.length === 0 || retryingKeys.size >= maxConcurrentRetries) return undefined;
    const due = idle.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity);
    return Math.max(due - clockMs(), breaker.remainingPauseMs(), 1);
  }

  /** Sends the waiting events of a key in order, until one fails or none is left. */
  async function retryKey(keyHash: string): Promise<void> {
    let unwritten = 0;
    let entries: readonly KeyRevision[] = [];
    for (
      let key = retryStates.get(keyHash);
      key && !isStopping && key.dueMs <= clockMs();
      key = retryStates.get(keyHash)
    ) {
      const { nextVersion } = key;
      if (!entries.some(({ versionAfter }) => versionAfter === nextVersion)) {
        const found = await pendingEntries(key);
        if (isStopping || (retryStates.get(keyHash)?.dueMs ?? 0) > clockMs()) break;
        if (!found) {
          unwritten = 0;
          await recordFailure(retryStates.get(keyHash) ?? key, undefined, integrityError);
          continue;
        }
        entries = found;
      }
      const entry = entries.find(({ versionAfter }) => versionAfter === nextVersion);
      if (!entry) {
        log.warn({ keyHash, version: nextVersion }, 'the key has been purged, and what waited of it');
        clearRetryState(keyHash);
        unwritten = 0;
        await settle([keyHash]);
        continue;
      }
      const wasDown = breaker.isOpen();
      const { status, detail, retryAfterMs } = await attempt(entry);
      if (status === 'none') break;
      const now = retryStates.get(keyHash) ?? key;
      // A page that was read again may have reset the state meanwhile.
      if (now.nextVersion !== nextVersion) continue;
      if (status === 'delivered') {
        advance(now);
        if (wasDown) retryAllNow();
        unwritten += 1;
        if (unwritten < retryPageSize && retryStates.has(keyHash)) continue;
        unwritten = 0;
        await settle([keyHash]);
      } else if (status === 'failed') {
        unwritten = 0;
        await recordFailure(now, entry, detail, retryAfterMs);
      }
    }
    if (unwritten > 0) await settle([keyHash]);
  }

  /** The waiting entries of a key; undefined if the next one fails its integrity check. */
  async function pendingEntries({ keyHash, nextVersion }: RetryState): Promise<KeyRevision[] | undefined> {
    // A later entry that fails its integrity check must not block the entries before it.
    return (await entriesOf(keyHash, nextVersion, retryPageSize)) ?? entriesOf(keyHash, nextVersion, 1);
  }

  /** Entries from a version on; undefined if one of them fails its integrity check. */
  async function entriesOf(keyHash: string, version: number, limit: number): Promise<KeyRevision[] | undefined> {
    try {
      const found = await storage(() => history.historyOf(keyHash, { after: version - 1, limit }));
      // After a purge, the identifier may belong to a key of another organisation.
      return found.filter(({ orgID }) => webhook.orgID === undefined || orgID === webhook.orgID);
    } catch (error) {
      if (codeOf(error) !== 'INTERNAL') throw error;
      return undefined;
    }
  }

  /** Makes all keys due after an outage has ended. */
  function retryAllNow(): void {
    for (const key of retryStates.values()) setRetryState({ ...key, dueMs: clockMs() });
    stateEvent.set();
  }

  /** Sends requested replays, in no order with other events: receivers compare the versions. */
  async function replay(): Promise<void> {
    while (!isStopping) {
      const wasSet = replayEvent.wait(undefined);
      const letters = await storage(() => store.dueReplays(webhook.id, clockMs(), replayPageSize));
      for (const letter of letters) if (!isStopping && breaker.remainingPauseMs() === 0) await redrive(letter);
      if (letters.length < replayPageSize || breaker.remainingPauseMs() > 0) await wasSet;
    }
  }

  async function redrive(letter: DeadLetter): Promise<void> {
    const { keyHash, version, eventID } = letter;
    const found = await entriesOf(keyHash, version, 1);
    const entry = found?.[0];
    const isSame = entry && [eventIDOf(entry), unverifiedEventIDOf(keyHash, version)].includes(eventID);
    if (found && !isSame) {
      log.warn(
        { event: eventID, keyHash, version },
        'the key has been purged, and with it the content of a dead letter',
      );
      return settle([], { redriven: [eventID] });
    }
    const { status, detail, retryAfterMs } = entry ? await attempt(entry) : failedIntegrityCheck;
    if (status === 'delivered') return settle([], { redriven: [eventID] });
    if (status !== 'failed') return;
    const attempts = letter.attempts + 1;
    const isOver = attempts >= retryPolicy.maxAttempts;
    const dueMs = isOver ? undefined : clockMs() + retryDelayMs(retryPolicy, attempts, retryAfterMs, random);
    return settle([], {
      replayFailed: [{ ...letter, attempts, lastError: detail, diedAt: new Date(clockMs()), dueMs }],
    });
  }

  /** Stops the worker after a storage error. The dispatcher starts another one. */
  function fail(error: unknown): void {
    if (!isStopping) log.error({ err: error }, 'deliveries of the webhook stopped; they restart in a few seconds');
    hasFailed = true;
    end();
    abort.abort();
  }

  async function run(): Promise<void> {
    for (const key of await storage(() => store.retryStates(webhook.id))) setRetryState(key);
    deadLetters = await countDeadLetters();
    await Promise.all([follow().catch(fail), retry().catch(fail), replay().catch(fail)]);
    await writing;
  }

  const over = run()
    .catch(fail)
    .finally(() => {
      hasEnded = true;
      post.close();
    });

  return {
    notifyOfChanges: feedEvent.set,
    notifyOfReplays: replayEvent.set,
    endState: () => (hasFailed ? 'failed' : hasEnded ? 'over' : undefined),
    async stop(withinMs) {
      end();
      const timer = setTimeout(() => abort.abort(), withinMs);
      await over;
      clearTimeout(timer);
    },
  };
}

function describeOutcome(outcome: AttemptOutcome): string {
  if ('error' in outcome) return outcome.error;
  const { status } = outcome;
  return status >= 300 && status < 400 ? `returned ${status}; redirects are not followed` : `returned ${status}`;
}
