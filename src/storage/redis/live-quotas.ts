import DataLoader from 'dataloader';
import { withEffectiveQuota } from '../../keys/access/effective-access.js';
import type { PolicyStore } from '../../keys/access/policy-store.js';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import type { ExternalCounters, QuotaDecision, QuotaOutbox } from '../../keys/quota/external-counters.js';
import { changedQuota, quotaChangeOf, type QuotaChange } from '../../keys/quota/quota-change.js';
import type { QuotaState, StoredKey } from '../../keys/key.js';
import type { KeyStore } from '../../keys/ports.js';
import { findEach } from '../../keys/queries/find-each.js';
import type { Receipt } from '../../keys/receipt.js';
import type { Redis } from './client.js';
import {
  counterFromHash,
  isOf,
  keyNames,
  quotaOf,
  receiptArguments,
  receiptName,
  receiptsOfCounter,
  type Counter,
} from './counter.js';
import { readScript, writeScript } from './lua.js';

interface LiveQuotasDeps {
  readonly redis: Redis;
  readonly store: KeyStore & QuotaOutbox;
  readonly policies: Pick<PolicyStore, 'current'>;
  /** The name of a counter; see `keyNames`. */
  readonly pattern: string;
  readonly now: () => Date;
}

/** The live counters in Redis, and the relay of their outbox. */
export interface LiveQuotas extends ExternalCounters {
  /**
   * The outbox relay: applies the pending changes from before the moment, and acknowledges them. A failed change stays and
   * delays only later changes of its key. Rejects at the end with the first error.
   */
  readonly relayPending: (before: Date, signal: AbortSignal) => Promise<void>;
}

const maxAttempts = 20;
/** The maximum time to live of a counter: more milliseconds would lose precision. */
const maxTimeToLiveMs = 100_000_000_000_000n;

/**
 * Live counters in Redis, shared by any number of processes and gateways. The domain computes the next state from the
 * state that was read; a script writes it if nothing but the count has changed meanwhile and the limit permits it.
 */
export function createLiveQuotas({ redis, store, policies, pattern, now }: LiveQuotasDeps): LiveQuotas {
  const load = createBatchLoader(store);
  /** The key with its effective quota, which gateways and the script count with. */
  const find: KeyStore['find'] = async (keyHash, orgID) => {
    const [key, known] = await Promise.all([load(keyHash, orgID), policies.current()]);
    return key && withEffectiveQuota(key, known);
  };
  const lastRuns = new Map<string, Promise<void>>();
  const namesOf = (keyHash: string) => keyNames(pattern, keyHash);
  const readCounter = async (keyHash: string) => counterFromHash(await redis.read(readScript, namesOf(keyHash)));

  /**
   * Returns `other` (changed meanwhile), `over` (above the limit), `repeated` (the receipt exists) or `done`, with the
   * counter before.
   */
  async function write(keyHash: string, current: Counter, next: Write): Promise<{ found: string; counter: Counter }> {
    const { way, amount, limit, timeToLive, identity, changed, renews, receipt } = next;
    const names = receipt ? [...namesOf(keyHash), receiptName(pattern, keyHash, receipt.id)] : namesOf(keyHash);
    const [found = '', ...before] = await redis.write(writeScript, names, [
      ...current.fingerprint,
      way,
      String(amount),
      limit === undefined ? '' : String(limit),
      timeToLive,
      identity,
      String(changed),
      renews === undefined ? '' : String(renews),
      ...(receipt ? receiptArguments(receipt, current.count) : []),
    ]);
    return { found, counter: counterFromHash(before) };
  }

  /** The write that brings the counter of the key from the state that was read to the next. */
  function writeTo({ key, counter, current, next, isPeriodic, isAnew }: CounterChange): Write {
    const isBegun = isOf(counter, key);
    // Concurrent counts stay, unless the counter is reset.
    const way = isBegun && !isAnew ? 'add' : 'set';
    const ends = isPeriodic ? next.renews : undefined;
    const isTimed = Number(counter.expiry) >= 0;
    const isExpiryUnchanged =
      way === 'add' && counter.count !== undefined && ends === (isTimed ? current.renews : undefined);
    return {
      way,
      amount: way === 'add' ? next.used - current.used : next.used,
      limit: undefined,
      timeToLive: isExpiryUnchanged ? '' : ends === undefined ? 'none' : timeUntil(ends, now()),
      identity: key.identity,
      changed: isBegun ? (counter.kept?.changed ?? 0n) : key.lastUpdated,
      renews: next.renews,
    };
  }

  /** Resolves to undefined if the counter was changed by another request between the read and the write. */
  async function tryToConsume<T>(
    keyHash: string,
    decide: (stored: StoredKey | undefined) => QuotaDecision<T>,
    orgID: string | undefined,
  ): Promise<{ readonly result: T } | undefined> {
    const reading = readCounter(keyHash).catch((error: unknown) => ({ error }));
    const [key, counter] = [await find(keyHash, orgID), await reading];
    if (!key) return { result: decide(undefined).result };
    if ('error' in counter) {
      // Rejects callers without access to the key first.
      decide(key);
      throw counter.error;
    }
    const current = quotaOf(counter, key, now().getTime());
    const { next, result, receipt } = decide({ ...key, quota: current });
    if (!next) return { result };
    // The renewal changes only when a period has ended or another one begins.
    const isAnew = current.renews !== undefined && next.renews !== current.renews;
    const wanted = writeTo({ key, counter, current, next, isPeriodic: isRenewed(key), isAnew });
    const limit = wanted.way === 'add' ? (key.definition.quotaMax ?? 0n) - wanted.amount : undefined;
    const { found, counter: before } = await write(keyHash, counter, { ...wanted, limit, receipt });
    if (found === 'other') return undefined;
    if (found === 'repeated') throw contendedError();
    if (found === 'done' && (wanted.way === 'set' || receipt)) return { result };
    // Others may have counted since the read: the result is computed from the counter at the time of the write.
    const decided = decide({ ...key, quota: quotaOf(before, key, now().getTime()) });
    if ((decided.next !== undefined) === (found === 'done')) return { result: decided.result };
    return found === 'done' ? { result } : undefined;
  }

  /** Runs the work for each key one after the other. */
  async function runSerially<T>(keyHash: string, work: () => Promise<T>): Promise<T> {
    const run = (lastRuns.get(keyHash) ?? Promise.resolve()).then(work);
    const ended = run.then(
      () => undefined,
      () => undefined,
    );
    lastRuns.set(keyHash, ended);
    try {
      return await run;
    } finally {
      if (lastRuns.get(keyHash) === ended) lastRuns.delete(keyHash);
    }
  }

  async function apply(change: QuotaChange): Promise<void> {
    const { keyHash } = change;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const [key, counter] = await Promise.all([find(keyHash), readCounter(keyHash)]);
      // The counter of a key that was purged, or added again, begins from the key.
      if (key?.identity !== change.identity) return;
      const isBegun = isOf(counter, key);
      if (isBegun && counter.kept && counter.kept.changed >= change.lastUpdated) return;
      const current = quotaOf(counter, key, now().getTime());
      // A new counter starts from the row, which contains the change.
      const next = isBegun ? changedQuota(change, current) : key.quota;
      const isPeriodic = isBegun ? change.periodAfter > 0n : isRenewed(key);
      const isAnew = change.isReset || next.used !== current.used;
      const wanted = writeTo({ key, counter, current, next, isPeriodic, isAnew });
      const changed = isBegun ? change.lastUpdated : key.lastUpdated;
      if ((await write(keyHash, counter, { ...wanted, changed })).found === 'done') return;
    }
    throw contendedError();
  }

  /** Applies the changes of each key in order, and those of different keys concurrently. Resolves to the errors by key. */
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

  return {
    receiptsOf: (keyHash) => receiptsOfCounter(redis, pattern, keyHash),
    async readCounters(keyHashes) {
      const counters = await Promise.all(keyHashes.map(readCounter));
      return counters.map((counter) => (key) => quotaOf(counter, key, now().getTime()));
    },
    pendingChange: quotaChangeOf,
    async applyPending(keyHash) {
      try {
        const failures = await applyAll(await store.pendingFor(keyHash));
        return failures.size === 0 ? 'APPLIED' : 'PENDING';
      } catch {
        // The change is committed. The relay tries again, and reports other errors.
        return 'PENDING';
      }
    },
    async consume(keyHash, decide, orgID) {
      const first = await tryToConsume(keyHash, decide, orgID);
      if (first) return first.result;
      // Another change of the counter came first. A receipt holds the count, so that of many such requests at once only
      // one would succeed in each round: the others of this process run one after the other.
      return runSerially(keyHash, async () => {
        for (let attempt = 2; attempt <= maxAttempts; attempt += 1) {
          const done = await tryToConsume(keyHash, decide, orgID);
          if (done) return done.result;
        }
        throw contendedError();
      });
    },
    async relayPending(before, signal) {
      const failures = new Map<string, unknown>();
      for await (const page of store.pendingBefore(before)) {
        const changes = page.filter(({ keyHash }) => !failures.has(keyHash));
        const failed = await applyAll(changes);
        const done = changes.filter(({ keyHash }) => !failed.has(keyHash));
        if (done.length > 0) await store.acknowledge(done);
        for (const [keyHash, error] of failed) failures.set(keyHash, error);
        // When Redis cannot be reached, the next page would fail as this one did.
        const isUnreachable = done.length === 0 && [...failed.values()].some(isUnavailable);
        if (isUnreachable || signal.aborted) break;
      }
      const [failure] = failures.values();
      if (failures.size > 0) throw failure;
    },
  };
}

/** The order in which the changes of a key were made, also if the clock was set back. */
function inOrder(a: QuotaChange, b: QuotaChange): number {
  return a.lastUpdated < b.lastUpdated ? -1 : 1;
}

function isRenewed({ definition: { quotaRenewalRate = 0n } }: StoredKey): boolean {
  return quotaRenewalRate > 0n;
}

interface CounterChange {
  readonly key: StoredKey;
  readonly counter: Counter;
  readonly current: QuotaState;
  readonly next: QuotaState;
  /** Whether the counter expires when its period ends. */
  readonly isPeriodic: boolean;
  /** Whether the count is replaced. */
  readonly isAnew: boolean;
}

interface Write {
  readonly way: 'add' | 'set';
  readonly amount: bigint;
  readonly limit: bigint | undefined;
  /** Milliseconds, `none`, or empty for no change. */
  readonly timeToLive: string;
  readonly identity: string;
  readonly changed: bigint;
  readonly renews: bigint | undefined;
  readonly receipt?: Receipt | undefined;
}

function timeUntil(seconds: bigint, now: Date): string {
  const ms = seconds * 1000n - BigInt(now.getTime());
  return String(ms > maxTimeToLiveMs ? maxTimeToLiveMs : ms);
}

function isUnavailable(error: unknown): boolean {
  return errorCodeOf(error) === 'UNAVAILABLE';
}

function contendedError(): AppError {
  return new AppError('UNAVAILABLE', 'The live quota is busy; nothing was counted.', { retryAfterSeconds: 1 });
}

interface KeyRequest {
  readonly keyHash: string;
  readonly orgID: string | undefined;
}

/** Finds keys as the store does, with one read per organization for all requests of one tick of the event loop. */
function createBatchLoader(store: Pick<KeyStore, 'find' | 'findMany'>): KeyStore['find'] {
  async function findAll(requests: readonly KeyRequest[]): Promise<(StoredKey | Error | undefined)[]> {
    const found = new Map<KeyRequest, StoredKey | Error | undefined>();
    const orgIDs = [...new Set(requests.map(({ orgID }) => orgID))];
    await Promise.all(
      orgIDs.map(async (orgID) => {
        const ofOrg = requests.filter((request) => request.orgID === orgID);
        const keyHashes = ofOrg.map(({ keyHash }) => keyHash);
        const keys = await findEach(store, keyHashes, undefined, orgID);
        for (const [index, request] of ofOrg.entries()) found.set(request, keys[index]);
      }),
    );
    return requests.map((request) => found.get(request));
  }
  const loader = new DataLoader<KeyRequest, StoredKey | undefined>(findAll, {
    cache: false,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  });
  return (keyHash, orgID) => loader.load({ keyHash, orgID });
}
