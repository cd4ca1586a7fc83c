import { AppError } from '../../lib/errors.js';
import type { ExternalCounters, QuotaManager, QuotaOutbox } from '../../keys/quota/quota-manager.js';
import { changedQuota, type QuotaChange } from '../../keys/quota/quota-change.js';
import type { QuotaState, StoredKey } from '../../keys/key.js';
import type { KeyStore } from '../../keys/ports.js';
import type { Redis } from './client.js';
import { counterFromHash, isOf, quotaOf, type Counter } from './counter.js';
import { createBatchLoader } from './batch-loader.js';
import { keyNames } from './key-names.js';
import { readScript, writeScript } from './lua.js';

interface Parts {
  readonly redis: Redis;
  readonly store: KeyStore & Pick<QuotaManager, 'counters'> & QuotaOutbox;
  /** How counters are called; see `keyNames`. */
  readonly pattern: string;
  readonly now: () => Date;
}

export interface LiveQuotas extends QuotaManager {
  readonly external: ExternalCounters;
  /**
   * Carries out the changes of counters that were written before the moment, and forgets them. One that fails stays, and
   * holds up only later ones of its own key. Rejects at the end with the error of the first that failed.
   */
  readonly carryOut: (before: Date, isStopped: () => boolean) => Promise<void>;
}

const mostAttempts = 20;
/** A counter of which nobody will see the end stays for as long as a number of milliseconds can be relied on. */
const longestMs = 100_000_000_000_000n;

/**
 * Live counters in Redis, which any number of processes and gateways may count in. What becomes of a counter the pure
 * functions of the domain decide, over what is there; a script then writes it, where nothing but the count is another by
 * now, and the count leaves room.
 */
export function createLiveQuotas({ redis, store, pattern, now }: Parts): LiveQuotas {
  const find = createBatchLoader(store);
  const namesOf = (keyHash: string) => keyNames(pattern, keyHash);
  const lookAt = async (keyHash: string) => counterFromHash(await redis.look(readScript, namesOf(keyHash)));

  /** Answers what was found: `other` than it was seen, `over` the limit, or `done`, each with what was there before. */
  async function write(keyHash: string, seen: Counter, next: Write): Promise<{ found: string; counter: Counter }> {
    const { way, amount, limit, timeToLive, created, changed, renews } = next;
    const [found = '', ...before] = await redis.write(writeScript, namesOf(keyHash), [
      ...seen.seen,
      way,
      String(amount),
      limit === undefined ? '' : String(limit),
      timeToLive,
      created,
      String(changed),
      renews === undefined ? '' : String(renews),
    ]);
    return { found, counter: counterFromHash(before) };
  }

  /** How to bring the key's counter from where it was seen to another state. */
  function writeTo({ key, counter, seen, next, isPeriodic, isAnew }: Step): Write {
    const isBegun = isOf(counter, key);
    // What others count meanwhile stays counted, unless all of it is to go.
    const way = isBegun && !isAnew ? 'add' : 'set';
    const ends = isPeriodic ? next.renews : undefined;
    const isTimed = Number(counter.expiry) >= 0;
    const isAsItWas = way === 'add' && counter.count !== undefined && ends === (isTimed ? seen.renews : undefined);
    return {
      way,
      amount: way === 'add' ? next.used - seen.used : next.used,
      limit: undefined,
      timeToLive: isAsItWas ? '' : ends === undefined ? 'none' : timeUntil(ends, now()),
      created: key.dateCreated,
      changed: isBegun ? (counter.kept?.changed ?? 0n) : key.lastUpdated,
      renews: next.renews,
    };
  }

  async function apply(change: QuotaChange): Promise<void> {
    const { keyHash } = change;
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const [key, counter] = await Promise.all([find(keyHash), lookAt(keyHash)]);
      // A key that is gone, or another by now, is begun from what it is.
      if (key?.dateCreated !== change.dateCreated) return;
      const isBegun = isOf(counter, key);
      if (isBegun && counter.kept && counter.kept.changed >= change.lastUpdated) return;
      const seen = quotaOf(counter, key, now().getTime());
      // The key itself knows of the change already.
      const next = isBegun ? changedQuota(change, seen) : key.quota;
      const isPeriodic = isBegun ? change.periodAfter > 0n : isRenewed(key);
      const isAnew = change.isReset || next.used !== seen.used;
      const wanted = writeTo({ key, counter, seen, next, isPeriodic, isAnew });
      const changed = isBegun ? change.lastUpdated : key.lastUpdated;
      if ((await write(keyHash, counter, { ...wanted, changed })).found === 'done') return;
    }
    throw contended();
  }

  /** Carries out changes of one key in order, and others beside each other. Resolves to those that failed, with why. */
  async function applyAll(changes: readonly QuotaChange[]): Promise<ReadonlyMap<string, unknown>> {
    const byKey = new Map<string, QuotaChange[]>();
    for (const change of changes) byKey.set(change.keyHash, [...(byKey.get(change.keyHash) ?? []), change]);
    const failures = new Map<string, unknown>();
    await Promise.all(
      [...byKey].map(async ([keyHash, ofKey]) => {
        try {
          for (const change of ofKey.toSorted(inOrder)) await apply(change);
        } catch (error) {
          failures.set(keyHash, error);
        }
      }),
    );
    return failures;
  }

  const apart: ExternalCounters = {
    async read(keyHashes) {
      const counters = await Promise.all(keyHashes.map(lookAt));
      return counters.map((counter) => (key) => quotaOf(counter, key, now().getTime()));
    },
    async applyPending(keyHash) {
      try {
        const failures = await applyAll(await store.pendingFor(keyHash));
        return failures.size === 0 ? 'APPLIED' : 'PENDING';
      } catch {
        // It is written, and the change stands. It is tried again, and told of where that fails for another reason.
        return 'PENDING';
      }
    },
  };

  return {
    external: apart,
    counters: (orgIDs, reads) => store.counters(orgIDs, reads),
    async consume(keyHash, decide) {
      for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
        const looking = lookAt(keyHash).catch((error: unknown) => ({ error }));
        const [key, counter] = [await find(keyHash), await looking];
        if (!key) return decide(undefined).result;
        if ('error' in counter) {
          // Whoever may not know of the key is told of that first.
          decide(key);
          throw counter.error;
        }
        const seen = quotaOf(counter, key, now().getTime());
        const { next, result: answer } = decide({ ...key, quota: seen });
        if (!next) return answer;
        // Only a period that is over, and another's beginning, change when it renews.
        const isAnew = seen.renews !== undefined && next.renews !== seen.renews;
        const wanted = writeTo({ key, counter, seen, next, isPeriodic: isRenewed(key), isAnew });
        const limit = wanted.way === 'add' ? (key.definition.quotaMax ?? 0n) - wanted.amount : undefined;
        const { found, counter: before } = await write(keyHash, counter, { ...wanted, limit });
        if (found === 'other') continue;
        if (found === 'done' && wanted.way === 'set') return answer;
        // Others may have counted since it was looked at: the decision is told over what was there when it was carried out.
        const decided = decide({ ...key, quota: quotaOf(before, key, now().getTime()) });
        if ((decided.next !== undefined) === (found === 'done')) return decided.result;
        if (found === 'done') return answer;
      }
      throw contended();
    },
    async carryOut(before, isStopped) {
      const failures = new Map<string, unknown>();
      for await (const page of store.pendingBefore(before)) {
        const changes = page.filter(({ keyHash }) => !failures.has(keyHash));
        const failed = await applyAll(changes);
        const done = changes.filter(({ keyHash }) => !failed.has(keyHash));
        if (done.length > 0) await store.acknowledge(done);
        for (const [keyHash, error] of failed) failures.set(keyHash, error);
        // When Redis cannot be reached, the next page would fail as this one did.
        const isAway = done.length === 0 && [...failed.values()].some(isUnavailable);
        if (isAway || isStopped()) break;
      }
      const [failure] = failures.values();
      if (failures.size > 0) throw failure;
    },
  };
}

/** The order in which the changes of a key were made, whatever the clock did. */
function inOrder(a: QuotaChange, b: QuotaChange): number {
  return a.lastUpdated < b.lastUpdated ? -1 : 1;
}

function isRenewed({ definition: { quotaRenewalRate = 0n } }: StoredKey): boolean {
  return quotaRenewalRate > 0n;
}

interface Step {
  readonly key: StoredKey;
  readonly counter: Counter;
  readonly seen: QuotaState;
  readonly next: QuotaState;
  /** Whether the counter goes away when its period ends. */
  readonly isPeriodic: boolean;
  /** Whether nothing of what was counted stays. */
  readonly isAnew: boolean;
}

interface Write {
  readonly way: 'add' | 'set';
  readonly amount: bigint;
  readonly limit: bigint | undefined;
  /** Milliseconds, `none`, or nothing for as it is. */
  readonly timeToLive: string;
  readonly created: string;
  readonly changed: bigint;
  readonly renews: bigint | undefined;
}

function timeUntil(seconds: bigint, now: Date): string {
  const ms = seconds * 1000n - BigInt(now.getTime());
  return String(ms > longestMs ? longestMs : ms);
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAVAILABLE';
}

function contended(): AppError {
  return new AppError('UNAVAILABLE', 'The live quota is busy; nothing was counted.', { retryAfterSeconds: 1 });
}
