import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createRandom } from '../support/generated.js';
import { callRedis } from '../support/redis.js';
import type { RedisPair } from '../support/redis-sentinel.js';
import { until } from '../support/until.js';
import { createClient } from './kit/client.js';
import type { Finding } from './kit/compare.js';
import { counterNames, counterOf } from './kit/counters.js';
import { recoveryOf, startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { Process } from '../support/process.js';
import { makeInstallation, writeKeys } from './kit/workspace.js';

/*
 * Two services with their counters in a Redis with a replica, and writers on both. The primary is killed again and again,
 * and Sentinel promotes the replica. Each writer has a key that it alone counts in, so that what a failover has lost is
 * known exactly, and how old it was. Three more keys are reset: before the kill and replicated, just before the kill, and
 * while there is no primary.
 */

export interface RedisFailoverRun {
  readonly main: string;
  readonly folder: string;
  readonly seed: number;
  readonly failovers: number;
  readonly pair: RedisPair;
  /** Whether the replica gets nothing of what is written before the failover. */
  readonly isReplicaBehind?: boolean;
  readonly mutant?: string;
}

const writers = 6;
/** What each writer counts before a kill. A run in which little was counted would show little. */
const minCounts = 20;
const quotaMax = 1_000_000_000;
/** The time within which a replica receives what was written, on a busy machine. */
export const maxLagMs = 1_000;

type Counted = { readonly at: number; readonly amount: number; readonly isKnown: boolean };

/** Ends early when something is found. */
export async function killRedisPrimary({
  main,
  folder,
  seed,
  failovers,
  pair,
  isReplicaBehind = false,
  mutant,
}: RedisFailoverRun): Promise<Report> {
  const report = startReport(
    'kill -9 of the Redis primary under load, with promotion of its replica by Sentinel',
    seed,
  );
  const random = createRandom(seed);
  const own = Array.from({ length: writers }, (_, index) => `own-${index}`);
  const resets = ['replicated', 'just-before', 'meanwhile'] as const;
  await mkdir(folder, { recursive: true });
  const keysFile = join(folder, 'keys.jsonl');
  await writeKeys(
    keysFile,
    [...own, ...resets].map((key_id) => ({ key_id, org_id: 'acme', quota_max: quotaMax })),
  );
  const { data, service: credential } = await makeInstallation(join(folder, 'data'), keysFile);
  const env = { KEYFRONT_QUOTA_URL: pair.url, KEYFRONT_QUOTA_KEYS: counterNames };
  const headers = { 'x-svc-authorization': credential };
  const services: Process[] = [];
  const recoveryMs: number[] = [];
  const totals = { acknowledged: 0, open: 0, lostCounts: 0, oldestLostMs: 0, appliedResets: 0, pendingResets: 0 };
  let endedServices = 0;
  let isOver = false;

  type Client = ReturnType<typeof createClient>;
  async function count(client: Client, keyID: string, amount: number): Promise<'ok' | 'no' | 'maybe'> {
    const path = `/svc/org/keys/${keyID}/quota`;
    const sent = await client.send('POST', path, headers, JSON.stringify({ amount }));
    if (typeof sent === 'string') return sent === 'unreached' ? 'no' : 'maybe';
    if (sent.status === 200) return 'ok';
    // A response that states that nothing was counted must be true.
    return sent.text.includes('nothing was') ? 'no' : 'maybe';
  }
  async function countSurely(client: Client, keyID: string, amount: number): Promise<void> {
    await until(async () => {
      const outcome = await count(client, keyID, amount);
      if (outcome === 'maybe') throw new Error('The outcome of a count without load is unknown.');
      return outcome === 'ok';
    }, `A count of ${keyID}`);
  }
  async function reset(client: Client, keyID: string): Promise<void> {
    const body = JSON.stringify({ quota_max: quotaMax });
    const sent = await client.send('PUT', `/svc/org/keys/${keyID}?reset_quota=1`, headers, body);
    if (typeof sent === 'string' || sent.status !== 200) throw new Error(`The reset of ${keyID} failed.`);
    totals[sent.headers['quota-reset'] === 'applied' ? 'appliedResets' : 'pendingResets'] += 1;
  }
  const used = async (keyID: string) =>
    Number((await callRedis(await pair.primaryURL(), 'GET', counterOf(keyID))) ?? 0);

  try {
    services.push(launch({ main, data, env, mutant }), launch({ main, data, env, mutant }));
    for (const { exited } of services) void exited.then(() => (endedServices += isOver ? 0 : 1));
    const ports = await Promise.all(services.map(portOf));
    const clients = ports.map((port) => createClient(port));
    const [client = createClient(0)] = clients;
    for (let cycle = 0; cycle < failovers && report.found() === 0; cycle += 1) {
      report.addCase();
      const where = `FUZZ_SEED=${seed} REDIS_FAILOVERS=${cycle + 1}`;
      if (cycle > 0) await pair.addReplica();
      for (const keyID of resets) await countSurely(client, keyID, 7);
      await reset(client, 'replicated');
      await pair.replicated();
      const before = await Promise.all(own.map(used));
      if (isReplicaBehind) await pair.stopReplication();

      const counted = own.map((): Counted[] => []);
      let isStopped = false;
      const writing = own.map(async (keyID, index) => {
        const { below } = createRandom(seed * 1_000 + cycle * writers + index);
        while (!isStopped) {
          const amount = 1 + below(9);
          const outcome = await count(clients[index % 2] ?? client, keyID, amount);
          const at = performance.now();
          if (outcome !== 'no') counted[index]?.push({ at, amount, isKnown: outcome === 'ok' });
          totals.acknowledged += outcome === 'ok' ? 1 : 0;
          totals.open += outcome === 'maybe' ? 1 : 0;
          await wait(below(4));
        }
      });
      const needed = isReplicaBehind ? 1 : minCounts;
      await until(() => counted.every(({ length }) => length >= needed), `${needed} counts of every writer`);
      await wait(random.below(400) + (isReplicaBehind ? 2 * maxLagMs : 0));
      await reset(client, 'just-before');
      const killedAt = performance.now();
      await pair.killPrimary();
      await reset(client, 'meanwhile');
      await pair.promoted();
      await until(
        () => endedServices > 0 || counted.every((all) => all.some(({ at, isKnown }) => isKnown && at > killedAt + 50)),
        'A count of every writer after the failover',
      );
      for (const all of counted) {
        const first = all.find(({ at, isKnown }) => isKnown && at > killedAt + 50);
        if (first) recoveryMs.push(Math.round(first.at - killedAt));
      }
      isStopped = true;
      await Promise.all(writing);
      // The reset of this key was replicated: what is counted from here on must stay.
      await countSurely(client, 'replicated', 5);

      for (const [index, keyID] of own.entries()) {
        const all = counted[index] ?? [];
        const found = (await used(keyID)) - (before[index] ?? 0);
        const known = all.filter(({ isKnown }) => isKnown);
        const sum = (some: readonly Counted[]) => some.reduce((total, { amount }) => total + amount, 0);
        if (found > sum(all)) report.addFindings([invented(keyID, found, sum(all))], where);
        const lost = lostOf(known, found, killedAt);
        totals.lostCounts += lost.length;
        const ageMs = Math.round(Math.max(0, ...lost.map(({ at }) => killedAt - at)));
        totals.oldestLostMs = Math.max(totals.oldestLostMs, ageMs);
        // Open counts may be in the counter instead of lost ones: with them the age is a lower bound.
        if (ageMs > maxLagMs || found < sum(known.filter(({ at }) => at < killedAt - maxLagMs || at > killedAt + 50))) {
          report.addFindings([{ kind: 'lost', what: `${keyID} lost a count ${ageMs} ms before the failover` }], where);
        }
      }
      report.addFindings(await untilApplied(data), where);
      for (const [keyID, expected] of [
        ['replicated', 5],
        ['just-before', 0],
        ['meanwhile', 0],
      ] as const) {
        const found = await used(keyID);
        if (found < expected) report.addFindings([{ kind: 'lost', what: `${keyID} was reset twice` }], where);
        if (found > expected) report.addFindings([{ kind: 'invented', what: `${keyID} was not reset` }], where);
      }
    }
    for (const one of clients) one.close();
  } finally {
    isOver = true;
    await Promise.all(services.map(killNow));
  }
  const { acknowledged, open, ...more } = totals;
  return { ...report.end({ ...more, ...recoveryOf(recoveryMs), endedServices }), acknowledged, open };
}

/** The acknowledged counts before the failover that are missing: the last ones, because a replica has a prefix. */
function lostOf(known: readonly Counted[], found: number, killedAt: number): Counted[] {
  let missing = known.reduce((total, { amount }) => total + amount, 0) - found;
  const lost: Counted[] = [];
  for (const one of known.filter(({ at }) => at <= killedAt + 50).toReversed()) {
    if (missing <= 0) break;
    missing -= one.amount;
    lost.push(one);
  }
  return lost;
}

function invented(keyID: string, found: number, max: number): Finding {
  return { kind: 'invented', what: `${keyID} counts ${found} more, and no more than ${max} can have been counted` };
}

/** Waits until each reset is applied, and verified. */
async function untilApplied(data: string): Promise<Finding[]> {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    const pending = database.prepare<[], { pending: number }>('SELECT count(*) AS pending FROM quota_changes');
    await until(() => pending.get()?.pending === 0, 'The application of the resets');
    return [];
  } catch (error) {
    return [{ kind: 'half', what: String(error) }];
  } finally {
    database.close();
  }
}
