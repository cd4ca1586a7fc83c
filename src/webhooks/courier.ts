import { setMaxListeners } from 'node:events';
import { codeOf } from '../lib/errors.js';
import type { ChangeEvent, ChangeFeed } from '../keys/feed.js';
import type { AuditEntry, KeyStore } from '../keys/store.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../watch.js';
import type { DeadLetter, FailingKey, HeldWebhook, Settlement, WebhookStore } from '../webhook.js';
import { createBackoff } from './backoff.js';
import type { LimitFunction } from 'p-limit';
import { eventIDOf, messageOf, unreadableIDOf, type ShownPart } from './event.js';
import type { Post } from './post.js';
import { askedWaitMs, waitMs, type Schedule } from './schedule.js';
import type { Outcome } from './send.js';
import { createSignal } from './signal.js';

export interface CourierPorts {
  readonly store: Pick<WebhookStore, 'isHeld' | 'settle' | 'failing' | 'replayed' | 'change' | 'standings'>;
  readonly history: Pick<KeyStore, 'auditOf'>;
  readonly feed: Pick<ChangeFeed, 'read'>;
  readonly holder: string;
  /** False once the lease has ended by the clock of this process. */
  readonly maySend: () => boolean;
  readonly log: Logger;
  readonly meter: Meter | undefined;
  readonly shown: ShownPart;
  readonly schedule: Schedule;
  /** What all couriers together ask storage for at a time. */
  readonly storage: LimitFunction;
  readonly clockMs: () => number;
  readonly random: () => number;
}

/** Brings the changes to one receiver, for as long as this process holds its webhook. */
export interface Courier {
  /** There may be more to bring. */
  readonly wake: () => void;
  /** There may be dead letters to be sent once more. */
  readonly look: () => void;
  /** Sends nothing more. Resolves when what is under way has an answer, or has been broken off. */
  readonly stop: (withinMs: number) => Promise<void>;
  /** Whether it has come to an end by itself: `failed` where storage did not answer as it should. */
  readonly end: () => 'failed' | 'over' | undefined;
}

const pageSize = 100;
const freshAtOnce = 8;
const retriesAtOnce = 4;
/** So many events that waited are read at a time, and written down as delivered: what is lost with us is sent again. */
const waitingAtOnce = 20;
/** Beyond so many, nothing new is begun: all of them are kept in memory. */
const mostFailingKeys = 1_000;
/** The receiver itself is at fault where so many keys fail one after the other; it is then asked as the schedule has it. */
const keysOfOutage = 16;
const mostDeadLetters = 1_000;
const replaysAtOnce = 20;
const saveEveryMs = 5_000;
const unreadable = 'its history entry fails the integrity check';

type Verdict = 'delivered' | 'failed' | 'gone' | 'none';

interface Attempted {
  readonly verdict: Verdict;
  readonly why: string;
  readonly askedMs: number | undefined;
}

/** What becomes of an event whose history entry fails its integrity check. */
const failedUnread: Attempted = { verdict: 'failed', why: unreadable, askedMs: undefined };

export function createCourier({ webhook, cursor: start }: HeldWebhook, post: Post, ports: CourierPorts): Courier {
  const { store, history, feed, holder, maySend, meter, shown, schedule, storage, clockMs, random } = ports;
  const log = ports.log.child({ webhook: webhook.id });
  const failing = new Map<string, FailingKey>();
  const retried = new Set<string>();
  const backoff = createBackoff(keysOfOutage, clockMs);
  /** There may be more in the feed. */
  const news = createSignal();
  /** There may be dead letters to be sent once more. */
  const replays = createSignal();
  /** Something else has happened that somebody may be waiting for. */
  const signal = createSignal();
  const abort = new AbortController();
  // One for each attempt that is under way.
  setMaxListeners(freshAtOnce + retriesAtOnce + 1, abort.signal);
  let cursor = start;
  let savedMs = clockMs();
  let isStopping = false;
  let hasEnded = false;
  let hasFailed = false;
  let deadLetters = 0;
  let writing: Promise<void> = Promise.resolve();

  function end(): void {
    isStopping = true;
    for (const one of [news, replays, signal]) one.raise();
  }

  function keep(key: FailingKey): void {
    failing.set(key.keyHash, key);
    signal.raise();
  }

  function forget(keyHash: string): void {
    failing.delete(keyHash);
    // Where it was the last, somebody may be waiting for that.
    signal.raise();
  }

  /** Writes what has become of keys, as they are when their turn comes: one write follows the other. */
  function settle(keys: Iterable<string>, more: Settlement = {}): Promise<void> {
    const turn = writing.then(async () => {
      if (hasEnded) return;
      const [waiting, done]: [FailingKey[], string[]] = [[], []];
      for (const key of keys) {
        const found = failing.get(key);
        if (found) waiting.push(found);
        else done.push(key);
      }
      const isHeld = await storage(() => store.settle(holder, webhook.id, { ...more, failing: waiting, done }));
      if (isHeld) return;
      log.warn('the lease of the webhook has ended');
      end();
      abort.abort();
    });
    writing = turn.catch(() => undefined);
    return turn;
  }

  /** Sends the event of an entry once. */
  async function attempt(entry: AuditEntry): Promise<Attempted> {
    // What storage found is held against what the webhook may see, whatever was asked for.
    if (webhook.orgID !== undefined && entry.orgID !== webhook.orgID)
      throw new Error('An event of another organisation.');
    const none = { verdict: 'none', why: '', askedMs: undefined } as const;
    const message = messageOf(entry, shown);
    // A command that has changed the webhook has recalled the lease: what is sent from then on takes the new state.
    if (!(await storage(() => store.isHeld(holder, webhook.id)))) end();
    if (isStopping) return none;
    const outcome = await post(message, { abort: abort.signal, maySend });
    if (isStopping && abort.signal.aborted) return none;
    const isDelivered = 'status' in outcome && outcome.status >= 200 && outcome.status < 300;
    const why = wordsFor(outcome);
    const { keyHash, versionAfter } = entry;
    meter?.webhookAttempted(isDelivered ? 'delivered' : 'failed');
    log[isDelivered ? 'debug' : 'warn']({ event: message.id, keyHash, version: versionAfter, why }, 'webhook attempt');
    if (isDelivered) {
      backoff.succeeded();
      signal.raise();
      return { verdict: 'delivered', why, askedMs: undefined };
    }
    const askedMs = 'status' in outcome ? askedWaitMs(outcome.retryAfter, clockMs()) : undefined;
    backoff.failed(keyHash, 'status' in outcome && [429, 503].includes(outcome.status) ? askedMs : undefined);
    if ('status' in outcome && outcome.status === 410) {
      await pause('the receiver answered 410: it wants no more');
      return { verdict: 'gone', why, askedMs };
    }
    return { verdict: 'failed', why, askedMs };
  }

  async function pause(why: string): Promise<void> {
    log.error({ why }, 'webhook paused');
    const at = new Date(clockMs());
    await storage(() =>
      store.change(webhook.id, (found) => (found.paused ? found : { ...found, paused: { at, why } })),
    );
    end();
  }

  /**
   * The key after one more failure of its next event: tried again later, or given up for the event after it. `entry` is
   * undefined if it fails its integrity check, which is treated as any other failure.
   */
  async function failed(key: FailingKey, entry: AuditEntry | undefined, why: string, askedMs?: number): Promise<void> {
    if (!entry) log.error({ keyHash: key.keyHash, version: key.next, why }, 'webhook event cannot be sent');
    const attempts = key.attempts + 1;
    if (attempts < schedule.mostAttempts) {
      const dueMs = clockMs() + waitMs(schedule, attempts, askedMs, random);
      keep({ ...key, attempts, dueMs, why });
      return settle([key.keyHash]);
    }
    const letter: DeadLetter = {
      eventID: entry ? eventIDOf(entry) : unreadableIDOf(key.keyHash, key.next),
      webhookID: webhook.id,
      keyHash: key.keyHash,
      version: key.next,
      died: new Date(clockMs()),
      attempts,
      why,
      dueMs: undefined,
    };
    log.error({ event: letter.eventID, keyHash: key.keyHash, version: key.next, why }, 'webhook event given up');
    meter?.webhookAttempted('dead');
    passOn(key);
    await settle([key.keyHash], { dead: [letter] });
    deadLetters += 1;
    if (deadLetters < mostDeadLetters) return;
    // Somebody may have discarded some meanwhile.
    deadLetters = await countDeadLetters();
    if (deadLetters >= mostDeadLetters) await pause(`${deadLetters} events were given up; replay or discard them`);
  }

  async function countDeadLetters(): Promise<number> {
    const standings = await storage(() => store.standings());
    return standings.find(({ webhookID }) => webhookID === webhook.id)?.deadLetters ?? 0;
  }

  /** The next event of the key is dealt with. */
  function passOn(key: FailingKey): void {
    // More may have come to wait while this one was under way.
    const last = failing.get(key.keyHash)?.last ?? key.last;
    if (key.next >= last) forget(key.keyHash);
    else keep({ ...key, last, next: key.next + 1, attempts: 0, dueMs: clockMs(), why: '' });
  }

  /** An event of a key whose earlier ones wait. It is read from the history when its turn comes. */
  function queue(key: FailingKey, { version, entry }: ChangeEvent): void {
    // A page that is read again begins before what waits; and a key that was purged begins its life anew.
    if (version < key.next) {
      const last = entry?.versionBefore === 0 ? version : key.last;
      keep({ ...key, next: version, last, attempts: 0, dueMs: clockMs() });
    } else keep({ ...key, last: Math.max(key.last, version) });
  }

  async function deliverNew(events: readonly ChangeEvent[]): Promise<void> {
    const chains = new Map<string, ChangeEvent[]>();
    for (const event of events) {
      const chain = chains.get(event.keyHash);
      if (chain) chain.push(event);
      else chains.set(event.keyHash, [event]);
    }
    const lines = [...chains.values()];
    const settled = new Set<ChangeEvent>();
    const touched = new Set<string>();
    await Promise.all(
      Array.from({ length: Math.min(freshAtOnce, lines.length) }, async () => {
        for (let chain = lines.shift(); chain && !isStopping; chain = lines.shift()) {
          await bring(chain, { settled, touched });
        }
      }),
    );
    // Where it ends in the middle, what follows the first event that is open comes again.
    const open = events.findIndex((event) => !settled.has(event));
    const reached = open === -1 ? cursor : events[open - 1]?.cursor;
    if (reached !== undefined) await settle(touched, { cursor: reached });
    savedMs = clockMs();
  }

  /** The new events of one key, until one fails. */
  async function bring(
    chain: readonly ChangeEvent[],
    { settled, touched }: { settled: Set<ChangeEvent>; touched: Set<string> },
  ): Promise<void> {
    for (const event of chain) {
      const { keyHash, version, entry } = event;
      const waiting = failing.get(keyHash);
      if (waiting) {
        queue(waiting, event);
        touched.add(keyHash);
        settled.add(event);
        continue;
      }
      await untilOpen();
      if (isStopping) return;
      const { verdict, why, askedMs } = entry ? await attempt(entry) : failedUnread;
      if (verdict === 'none' || verdict === 'gone') return;
      settled.add(event);
      if (verdict === 'delivered') continue;
      const key = { keyHash, next: version, last: version, attempts: 0, dueMs: clockMs(), why };
      keep(key);
      await failed(key, entry, why, askedMs);
    }
  }

  /** Until something new may be begun: not while the receiver is down or has asked for a pause. */
  async function untilOpen(): Promise<void> {
    while (!isStopping) {
      const waitForMs = backoff.waitMs();
      const isFull = failing.size >= mostFailingKeys || (backoff.isDown() && failing.size > 0);
      if (!isFull && waitForMs === 0) return;
      await signal.raised(isFull ? undefined : waitForMs);
    }
  }

  /** Follows the feed to its end, and waits for more. */
  async function follow(): Promise<void> {
    while (!isStopping) {
      const raised = news.raised(undefined);
      await untilOpen();
      if (isStopping) return;
      const page = await storage(() =>
        feed.read({ after: cursor, limit: pageSize, ...(webhook.orgID !== undefined && { orgID: webhook.orgID }) }),
      );
      const hasMoved = page.cursor !== cursor;
      cursor = page.cursor;
      if (page.events.length > 0) await deliverNew(page.events);
      // What others do is passed over, and that is written from time to time only.
      else if (hasMoved && clockMs() - savedMs > saveEveryMs) {
        await settle([], { cursor });
        savedMs = clockMs();
      }
      if (!page.hasMore) await raised;
    }
  }

  /** Tries again what has failed: the keys, each in its order, and the dead letters that are to be sent once more. */
  async function retry(): Promise<void> {
    const running = new Set<Promise<void>>();
    while (!isStopping) {
      const raised = signal.raised(msToNext());
      if (backoff.waitMs() === 0) {
        for (const key of failing.values()) {
          if (running.size >= retriesAtOnce) break;
          if (retried.has(key.keyHash) || key.dueMs > clockMs()) continue;
          retried.add(key.keyHash);
          const work: Promise<void> = again(key.keyHash)
            .catch(fail)
            .finally(() => {
              retried.delete(key.keyHash);
              running.delete(work);
              signal.raise();
            });
          running.add(work);
        }
      }
      await raised;
    }
    await Promise.all(running);
  }

  function msToNext(): number | undefined {
    const idle = [...failing.values()].filter(({ keyHash }) => !retried.has(keyHash));
    if (idle.length === 0 || retried.size >= retriesAtOnce) return undefined;
    const due = idle.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity);
    return Math.max(due - clockMs(), backoff.waitMs(), 1);
  }

  /** The events of a key that wait, one after the other, until one fails or none is left. */
  async function again(keyHash: string): Promise<void> {
    let unwritten = 0;
    let entries: readonly AuditEntry[] = [];
    for (let key = failing.get(keyHash); key && !isStopping && key.dueMs <= clockMs(); key = failing.get(keyHash)) {
      const { next } = key;
      if (!entries.some(({ versionAfter }) => versionAfter === next)) {
        const found = await waitingOf(key);
        if (isStopping || (failing.get(keyHash)?.dueMs ?? 0) > clockMs()) break;
        if (!found) {
          unwritten = 0;
          await failed(failing.get(keyHash) ?? key, undefined, unreadable);
          continue;
        }
        entries = found;
      }
      const entry = entries.find(({ versionAfter }) => versionAfter === next);
      if (!entry) {
        log.warn({ keyHash, version: next }, 'the key has been purged, and what waited of it');
        forget(keyHash);
        unwritten = 0;
        await settle([keyHash]);
        continue;
      }
      const wasDown = backoff.isDown();
      const { verdict, why, askedMs } = await attempt(entry);
      if (verdict === 'none') break;
      const now = failing.get(keyHash) ?? key;
      // A page that was read again may have set it back meanwhile.
      if (now.next !== next) continue;
      if (verdict === 'delivered') {
        passOn(now);
        if (wasDown) hurry();
        unwritten += 1;
        if (unwritten < waitingAtOnce && failing.has(keyHash)) continue;
        unwritten = 0;
        await settle([keyHash]);
      } else if (verdict === 'failed') {
        unwritten = 0;
        await failed(now, entry, why, askedMs);
      }
    }
    if (unwritten > 0) await settle([keyHash]);
  }

  /** What waits of a key, from its next event on; undefined if that event fails its integrity check. */
  async function waitingOf({ keyHash, next }: FailingKey): Promise<AuditEntry[] | undefined> {
    // One that cannot be read must not hold up those before it.
    return (await entriesOf(keyHash, next, waitingAtOnce)) ?? entriesOf(keyHash, next, 1);
  }

  /** From a version on. Undefined if one of them fails its integrity check. */
  async function entriesOf(keyHash: string, version: number, limit: number): Promise<AuditEntry[] | undefined> {
    try {
      const found = await storage(() => history.auditOf(keyHash, { after: version - 1, limit }));
      // A key that was purged may have come back as another organisation's.
      return found.filter(({ orgID }) => webhook.orgID === undefined || orgID === webhook.orgID);
    } catch (error) {
      if (codeOf(error) !== 'INTERNAL') throw error;
      return undefined;
    }
  }

  /** A receiver that is back is sent at once what waits for it. */
  function hurry(): void {
    for (const key of failing.values()) keep({ ...key, dueMs: clockMs() });
    signal.raise();
  }

  /** Dead letters that somebody wants sent once more, in no order with what is new: a receiver compares the versions. */
  async function replay(): Promise<void> {
    while (!isStopping) {
      const raised = replays.raised(undefined);
      const letters = await storage(() => store.replayed(webhook.id, clockMs(), replaysAtOnce));
      for (const letter of letters) if (!isStopping && backoff.waitMs() === 0) await revive(letter);
      if (letters.length < replaysAtOnce || backoff.waitMs() > 0) await raised;
    }
  }

  async function revive(letter: DeadLetter): Promise<void> {
    const { keyHash, version, eventID } = letter;
    const found = await entriesOf(keyHash, version, 1);
    const entry = found?.[0];
    const isSame = entry && [eventIDOf(entry), unreadableIDOf(keyHash, version)].includes(eventID);
    if (found && !isSame) {
      log.warn({ event: eventID, keyHash, version }, 'the key has been purged, and with it what a dead letter said');
      return settle([], { revived: [eventID] });
    }
    const { verdict, why, askedMs } = entry ? await attempt(entry) : failedUnread;
    if (verdict === 'delivered') return settle([], { revived: [eventID] });
    if (verdict !== 'failed') return;
    const attempts = letter.attempts + 1;
    const isOver = attempts >= schedule.mostAttempts;
    const dueMs = isOver ? undefined : clockMs() + waitMs(schedule, attempts, askedMs, random);
    return settle([], { replayFailed: [{ ...letter, attempts, why, died: new Date(clockMs()), dueMs }] });
  }

  /** What storage does not answer is asked again by whoever holds the webhook next. */
  function fail(error: unknown): void {
    if (!isStopping) log.error({ err: error }, 'the deliveries of a webhook broke off; they begin again in a moment');
    hasFailed = true;
    end();
    abort.abort();
  }

  async function run(): Promise<void> {
    for (const key of await storage(() => store.failing(webhook.id))) keep(key);
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
    wake: news.raise,
    look: replays.raise,
    end: () => (hasFailed ? 'failed' : hasEnded ? 'over' : undefined),
    async stop(withinMs) {
      end();
      const timer = setTimeout(() => abort.abort(), withinMs);
      await over;
      clearTimeout(timer);
    },
  };
}

function wordsFor(outcome: Outcome): string {
  if ('trouble' in outcome) return outcome.trouble;
  const { status } = outcome;
  return status >= 300 && status < 400 ? `answered ${status}, and redirects are not followed` : `answered ${status}`;
}
