import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { ChangeFeed } from '../keys/feed.js';
import type { KeyStore } from '../keys/store.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../watch.js';
import type { HeldWebhook, Webhook, WebhookStore } from '../webhook.js';
import { createCourier, type Courier } from './courier.js';
import type { ShownPart } from './event.js';
import pLimit from 'p-limit';
import { createPost } from './post.js';
import { usualSchedule, type Schedule } from './schedule.js';
import type { TargetKind } from './targets.js';

export interface DelivererPorts {
  readonly store: WebhookStore;
  readonly history: Pick<KeyStore, 'auditOf'>;
  readonly feed: ChangeFeed;
  readonly open: (sealed: Uint8Array, place: string) => string;
  readonly allowed: TargetKind;
  readonly shown: ShownPart;
  readonly log: Logger;
  readonly meter?: Meter | undefined;
}

/** What tests make shorter. */
export interface Pace {
  readonly schedule?: Schedule;
  /** How long a receiver has for its answer. */
  readonly answerWithinMs?: number;
  /** How often this process looks which webhooks there are to be delivered for. */
  readonly lookEveryMs?: number;
  /** For how long a webhook is held without another look. Whoever takes over from a process that is gone waits for so long. */
  readonly holdForMs?: number;
}

export interface Deliverer {
  /** Lets what is under way have an answer for a moment, and lets go of all webhooks. */
  readonly stop: () => Promise<void>;
}

const storageAtOnce = 3;
const stopWithinMs = 2_000;
const restMs = 5_000;
/** What storage does not answer at the end is left to whoever takes over. */
const giveUpAfterMs = 5_000;

interface Held {
  readonly courier: Courier;
  readonly webhook: Webhook;
  readonly endFollowing: () => void;
  readonly lease: Lease;
}

interface Lease {
  /** When it ends, by the monotonic clock of this process. */
  endsMs: number;
  expiry: NodeJS.Timeout;
}

/** Delivers changes to all webhooks that no other process delivers for. */
export function startDeliverer(ports: DelivererPorts, pace: Pace = {}): Deliverer {
  const { store, history, feed, open, allowed, shown, log, meter } = ports;
  const { schedule = usualSchedule, answerWithinMs = 10_000, lookEveryMs = 1_000, holdForMs = 6_000 } = pace;
  const holder = randomUUID();
  const held = new Map<string, Held>();
  /** Those that were let go of and may still be writing how far they came. */
  const ending = new Map<string, Promise<void>>();
  /** Until when those that have come to an end by themselves are left alone. */
  const rested = new Map<string, number>();
  const storage = pLimit(storageAtOnce);
  let isStopping = false;
  let isWell = true;
  let damaged: readonly string[] = [];
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** Ends the deliveries of a webhook. Attempts in flight may go on as long as the lease and `withinMs` permit. */
  function drop(id: string, withinMs: number): Promise<void> {
    const found = held.get(id);
    if (!found) return Promise.resolve();
    held.delete(id);
    const { courier, lease, endFollowing } = found;
    clearTimeout(lease.expiry);
    endFollowing();
    if (courier.end() === 'failed') rested.set(id, performance.now() + restMs);
    const graceMs = Math.max(0, Math.min(withinMs, lease.endsMs - performance.now()));
    const end = courier
      .stop(graceMs)
      .then(() => release(id))
      .finally(() => ending.delete(id));
    ending.set(id, end);
    return end;
  }

  /** A command that has changed the webhook waits for this. If it fails, for the end of the lease. */
  async function release(id: string): Promise<void> {
    await store.releaseRecalled(holder, id).catch((error: unknown) => {
      log.warn({ err: error, webhook: id }, 'the lease of a webhook could not be released; it ends by itself');
    });
  }

  function take({ webhook, cursor, leftMs }: HeldWebhook, askedMs: number): void {
    const post = createPost(webhook, { allowed, answerWithinMs, clockMs: Date.now, open });
    const lease = leaseOf(webhook.id, leftMs, askedMs);
    const courier = createCourier({ webhook, cursor, leftMs }, post, {
      maySend: () => performance.now() < lease.endsMs,
      store,
      history,
      feed,
      holder,
      log,
      meter,
      shown,
      schedule,
      storage,
      clockMs: Date.now,
      random: Math.random,
    });
    held.set(webhook.id, { courier, webhook, lease, endFollowing: feed.follow(courier.wake) });
  }

  /** Nothing is sent after its end, when another process may acquire the lease. */
  function leaseOf(id: string, leftMs: number, askedMs: number): Lease {
    const expire = () => {
      log.warn({ webhook: id }, 'a webhook could not be held for longer');
      void drop(id, 0);
    };
    const endsMs = askedMs + leftMs;
    return { endsMs, expiry: setTimeout(expire, Math.max(0, endsMs - performance.now())).unref() };
  }

  async function look(): Promise<void> {
    const askedMs = performance.now();
    const found = await store.hold(holder, holdForMs);
    if (isStopping) return;
    reportDamaged(found.damaged);
    const ids = new Set(found.held.map(({ webhook }) => webhook.id));
    // Side by side, and not waited for: one receiver that is slow must not delay what concerns the others.
    for (const id of held.keys()) if (!ids.has(id)) void drop(id, stopWithinMs);
    for (const id of found.recalled) if (!ending.has(id)) void release(id);
    for (const one of found.held) {
      const { webhook, leftMs } = one;
      const known = held.get(webhook.id);
      // One that was changed is begun anew, and so is one that has come to an end.
      if (known && known.courier.end() === undefined && isSame(known.webhook, webhook)) {
        clearTimeout(known.lease.expiry);
        Object.assign(known.lease, leaseOf(webhook.id, leftMs, askedMs));
        known.courier.look();
        continue;
      }
      // How far it had come is read by the next look.
      if (known) void drop(webhook.id, stopWithinMs);
      else if (!ending.has(webhook.id) && (rested.get(webhook.id) ?? 0) <= askedMs) begin(one, askedMs);
    }
  }

  function reportDamaged(ids: readonly string[]): void {
    for (const id of ids) {
      if (damaged.includes(id)) continue;
      log.error({ webhook: id }, 'the row of a webhook fails its integrity check; nothing is delivered for it');
    }
    damaged = ids;
  }

  function begin(one: HeldWebhook, askedMs: number): void {
    try {
      take(one, askedMs);
    } catch (error) {
      log.error({ err: error, webhook: one.webhook.id }, 'a webhook cannot be delivered for');
    }
  }

  async function lookAgain(): Promise<void> {
    try {
      await look();
      if (!isWell) log.info('webhooks are delivered again');
      isWell = true;
    } catch (error) {
      if (isWell) log.warn({ err: error }, 'webhooks cannot be read; it is tried again');
      isWell = false;
    }
    if (isStopping) return;
    timer = setTimeout(() => {
      looking = lookAgain();
    }, lookEveryMs).unref();
  }

  looking = lookAgain();

  async function stop(): Promise<void> {
    isStopping = true;
    clearTimeout(timer);
    await looking;
    const hasAny = held.size > 0;
    await Promise.all([...held.keys()].map((id) => drop(id, stopWithinMs)));
    await Promise.all(ending.values());
    // Whoever is to take over need not wait then.
    if (hasAny) await store.letGo(holder).catch(() => undefined);
  }

  let stopped: Promise<void> | undefined;
  return { stop: () => (stopped ??= Promise.race([stop(), wait(giveUpAfterMs, undefined, { ref: false })])) };
}

function isSame(a: Webhook, b: Webhook): boolean {
  return (
    a.orgID === b.orgID &&
    Buffer.compare(a.sealedURL, b.sealedURL) === 0 &&
    Buffer.compare(a.sealedSecret, b.sealedSecret) === 0
  );
}
