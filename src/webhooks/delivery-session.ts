import { setMaxListeners } from 'node:events';
import type { LimitFunction } from 'p-limit';
import type { ChangeFeed } from '../keys/change-feed.js';
import type { KeyRevision } from '../keys/key.js';
import type { KeyStore } from '../keys/ports.js';
import { createAsyncEvent } from '../lib/async-event.js';
import { errorCodeOf } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import { createCircuitBreaker } from './circuit-breaker.js';
import { createDeliveryAttempts, type AttemptResult } from './delivery-attempt.js';
import { eventIDOf, unverifiedEventIDOf, type RenderChange } from './event.js';
import { retryDelayMs, type RetryPolicy } from './retry-policy.js';
import { createRetryQueue } from './retry-queue.js';
import type { SignedSender } from './sign-and-send.js';
import type { DeadLetter, LeasedWebhook, RetryState, DeliveryResults, WebhookStore } from './webhook.js';

/** What the delivery workers of one process need. */
export interface DeliveryWorkerDeps {
  readonly store: Pick<
    WebhookStore,
    'hasLease' | 'recordResults' | 'retryStates' | 'dueReplays' | 'change' | 'deliveryStats'
  >;
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

/** Maximum number of keys whose new events are sent at the same time. */
export const maxConcurrentKeys = 8;
/** Maximum number of keys that are retried at the same time. */
export const maxConcurrentRetries = 4;
/** Failures of this many different keys without a success count as an outage: only retries are sent. */
const failedKeysOfOutage = 16;
const maxDeadLetters = 1_000;
const integrityError = 'its history entry fails the integrity check';

/** The result for an event whose history entry fails its integrity check. */
export const failedIntegrityCheck: AttemptResult = {
  status: 'failed',
  detail: integrityError,
  retryAfterMs: undefined,
};

/** The shared state of one delivery worker; see {@link createDeliverySession}. */
export type DeliverySession = ReturnType<typeof createDeliverySession>;

/** Creates the state that new events, retries and replays of one webhook share. It also writes their results. */
export function createDeliverySession({ webhook }: LeasedWebhook, send: SignedSender, deps: DeliveryWorkerDeps) {
  const { store, history, holder, meter, retryPolicy, storage, clockMs, random } = deps;
  const log = deps.log.child({ webhook: webhook.id });
  const breaker = createCircuitBreaker(failedKeysOfOutage, clockMs);
  /** Set if the feed may contain more. */
  const feedEvent = createAsyncEvent();
  /** Set if replays may be requested. */
  const replayEvent = createAsyncEvent();
  /** Set after every change of the retry queue or the circuit breaker. */
  const stateEvent = createAsyncEvent();
  const queue = createRetryQueue(clockMs, stateEvent.set);
  const abort = new AbortController();
  // One listener for each attempt in flight.
  setMaxListeners(maxConcurrentKeys + maxConcurrentRetries + 1, abort.signal);
  let isStopping = false;
  let hasEnded = false;
  let hasFailed = false;
  let deadLetters = 0;
  let writing: Promise<void> = Promise.resolve();

  function end(): void {
    isStopping = true;
    for (const event of [feedEvent, replayEvent, stateEvent]) event.set();
  }

  /** Ends the worker after a storage error. The dispatcher starts another one. */
  function fail(error: unknown): void {
    if (!isStopping) log.error({ err: error }, 'deliveries of the webhook stopped; they restart in a few seconds');
    hasFailed = true;
    end();
    abort.abort();
  }

  /** Writes the retry states of keys, as they are when the write starts. Writes run one after the other. */
  function recordResults(keyHashes: Iterable<string>, more: DeliveryResults = {}): Promise<void> {
    const write = writing.then(async () => {
      if (hasEnded) return;
      const [failing, done]: [RetryState[], string[]] = [[], []];
      for (const keyHash of keyHashes) {
        const state = queue.get(keyHash);
        if (state) failing.push(state);
        else done.push(keyHash);
      }
      const isHeld = await storage(() => store.recordResults(holder, webhook.id, { ...more, failing, done }));
      if (isHeld) return;
      log.warn('the lease of the webhook has ended');
      end();
      abort.abort();
    });
    writing = write.catch(() => undefined);
    return write;
  }

  const { attempt, pause } = createDeliveryAttempts({
    ...deps,
    webhook,
    send,
    breaker,
    log,
    abort: abort.signal,
    isStopping: () => isStopping,
    end,
    onSuccess: stateEvent.set,
  });

  /**
   * Records a failed attempt: schedules the next one, or makes the event a dead letter and advances to the next event.
   *
   * @param entry undefined if it fails its integrity check, which counts as a failed attempt
   */
  async function recordFailure(
    state: RetryState,
    entry: KeyRevision | undefined,
    detail: string,
    retryAfterMs?: number,
  ): Promise<void> {
    const { keyHash, nextVersion: version } = state;
    if (!entry) log.error({ keyHash, version, why: detail }, 'webhook event cannot be sent');
    const attempts = state.attempts + 1;
    if (attempts < retryPolicy.maxAttempts) {
      const dueMs = clockMs() + retryDelayMs(retryPolicy, attempts, retryAfterMs, random);
      queue.set({ ...state, attempts, dueMs, lastError: detail });
      return recordResults([keyHash]);
    }
    const eventID = entry ? eventIDOf(entry) : unverifiedEventIDOf(keyHash, version);
    const letter: DeadLetter = {
      eventID,
      webhookID: webhook.id,
      keyHash,
      version,
      diedAt: new Date(clockMs()),
      attempts,
      lastError: detail,
      dueMs: undefined,
    };
    log.error({ event: eventID, keyHash, version, why: detail }, 'webhook event given up');
    meter?.webhookAttempted('dead');
    queue.advance(state);
    await recordResults([keyHash], { dead: [letter] });
    deadLetters += 1;
    if (deadLetters < maxDeadLetters) return;
    // A command may have discarded dead letters meanwhile.
    deadLetters = await countDeadLetters();
    if (deadLetters >= maxDeadLetters) await pause(`${deadLetters} events were given up; replay or discard them`);
  }

  async function countDeadLetters(): Promise<number> {
    const stats = await storage(() => store.deliveryStats());
    return stats.find(({ webhookID }) => webhookID === webhook.id)?.deadLetters ?? 0;
  }

  /** Entries of a key from a version on; undefined if one of them fails its integrity check. */
  async function readEntries(keyHash: string, version: number, limit: number): Promise<KeyRevision[] | undefined> {
    try {
      const entries = await storage(() => history.historyOf(keyHash, { after: version - 1, limit }));
      // After a purge, the identifier may belong to a key of another organisation.
      return entries.filter(({ orgID }) => webhook.orgID === undefined || orgID === webhook.orgID);
    } catch (error) {
      if (errorCodeOf(error) !== 'INTERNAL') throw error;
      return undefined;
    }
  }

  return {
    webhook,
    deps,
    log,
    breaker,
    queue,
    feedEvent,
    replayEvent,
    stateEvent,
    attempt,
    recordFailure,
    recordResults,
    readEntries,
    end,
    fail,
    abort: () => abort.abort(),
    isStopping: () => isStopping,
    hasFailed: () => hasFailed,
    hasEnded: () => hasEnded,
    /** Reads the stored state. */
    load: async () => {
      for (const state of await storage(() => store.retryStates(webhook.id))) queue.set(state);
      deadLetters = await countDeadLetters();
    },
    /** Waits for the writes that have begun. */
    written: () => writing,
    /** Discards all later writes. */
    close: () => {
      hasEnded = true;
    },
  };
}
