import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { callRedis, type OwnRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { createClient, type Sent } from './kit/client.js';
import type { Finding } from './kit/compare.js';
import { counterNames, counterOf } from './kit/counters.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { Process } from '../support/process.js';
import { makeInstallation, writeKeys } from './kit/workspace.js';
import { statement } from './kit/stored.js';

/*
 * Two services on one PostgreSQL database with their counters in one Redis, and writers on both. By turns a service is
 * killed, Redis is killed and started again, or Redis is stopped for longer than any timeout. Each writer has a key that
 * it alone counts in and resets, and so knows between which two figures the counter must stand; all share one more, which
 * has little to give. At the end every counter is read in Redis itself.
 */

export interface RedisRun {
  readonly main: string;
  readonly folder: string;
  readonly seed: number;
  readonly cycles: number;
  readonly redis: OwnRedis;
  /** Of an empty database. */
  readonly url: string;
  readonly mutant?: string | undefined;
}

/** What a writer knows of its counter. */
interface Known {
  min: number;
  max: number;
  /** Whether no reset is left that may be carried out at any time. */
  isSteady: boolean;
}

const writers = 6;
const ownMax = 1_000_000_000;
const sharedMax = 400;
const faults = ['service', 'redis', 'pause'] as const;
/** The minimum number of acknowledged operations before each fault. */
const minAcknowledged = 5 * writers;

export async function killAroundRedis({ main, folder, seed, cycles, redis, url, mutant }: RedisRun): Promise<Report> {
  const report = startReport('kill -9 of a service, or of Redis, and pauses of it, with counters in Redis', seed);
  const random = createRandom(seed);
  const counts = { service: 0, redis: 0, pause: 0, appliedResets: 0, openResets: 0, rejected: 0 };
  await mkdir(folder, { recursive: true });
  const keysFile = join(folder, 'keys.jsonl');
  const key = (key_id: string, quota_max: number) => ({ key_id, org_id: 'acme', quota_max });
  const own = Array.from({ length: writers }, (_, index) => `own-${index}`);
  await writeKeys(keysFile, [...own.map((keyID) => key(keyID, ownMax)), key('shared', sharedMax)]);
  const database = { KEYFRONT_DATABASE_URL: url };
  const { data, service: credential } = await makeInstallation(join(folder, 'data'), keysFile, database);
  const env = { ...database, KEYFRONT_QUOTA_URL: redis.url, KEYFRONT_QUOTA_KEYS: counterNames };
  const headers = { 'x-svc-authorization': credential };

  const known = own.map((): Known => ({ min: 0, max: 0, isSteady: true }));
  let minConsumed = 0;
  let maxConsumed = 0;
  let acknowledged = 0;
  let open = 0;

  async function count(
    client: ReturnType<typeof createClient>,
    keyID: string,
    amount: number,
  ): Promise<'ok' | 'no' | 'maybe'> {
    return outcomeOf(await client.send('POST', `/svc/org/keys/${keyID}/quota`, headers, JSON.stringify({ amount })));
  }
  function outcomeOf(sent: Sent): 'ok' | 'no' | 'maybe' {
    if (sent === 'unreached') return 'no';
    if (sent === 'no response') return 'maybe';
    if (sent.status === 200) return sent.text.includes('"allowed":false') ? 'no' : 'ok';
    // A response that states that nothing was done must be true.
    if (sent.status === 503) counts.rejected += 1;
    return sent.status >= 500 && !sent.text.includes('nothing was') ? 'maybe' : 'no';
  }
  function note(outcome: 'ok' | 'no' | 'maybe'): void {
    if (outcome === 'ok') acknowledged += 1;
    if (outcome === 'maybe') open += 1;
  }

  /** Without faults, resets each counter and counts in it, so that every run ends with figures that are exact. */
  async function resetAndCount(): Promise<void> {
    const [port = 0] = await Promise.all(services.map(portOf));
    const client = createClient(port);
    for (const [index, keyID] of own.entries()) {
      const reset = async () =>
        client.send('PUT', `/svc/org/keys/${keyID}?reset_quota=1`, headers, JSON.stringify({ quota_max: ownMax }));
      await until(async () => {
        const sent = await reset();
        return typeof sent === 'object' && sent.headers['quota-reset'] === 'applied';
      }, `The reset of ${keyID}`);
      const outcome = await count(client, keyID, 5);
      note(outcome);
      known[index] = { min: outcome === 'ok' ? 5 : 0, max: outcome === 'no' ? 0 : 5, isSteady: true };
    }
    client.close();
  }

  const services: Process[] = [];
  const start = () => launch({ main, data, mutant, env });
  try {
    services.push(start(), start());
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      report.addCase();
      const ports = await Promise.all(services.map(portOf));
      const before = acknowledged;
      let isStopped = false;
      const writing = own.map(async (keyID, index) => {
        const { below } = createRandom(seed * 1_000 + cycle * writers + index);
        const client = createClient(ports[index % 2] ?? 0);
        const mine = known[index];
        while (!isStopped && mine) {
          const share = below(10);
          if (share < 2) {
            const path = `/svc/org/keys/${keyID}?reset_quota=1`;
            const sent = await client.send('PUT', path, headers, JSON.stringify({ quota_max: ownMax }));
            const outcome = outcomeOf(sent);
            note(outcome);
            if (outcome === 'no') continue;
            const isApplied = typeof sent === 'object' && sent.headers['quota-reset'] === 'applied';
            counts[isApplied ? 'appliedResets' : 'openResets'] += 1;
            mine.min = 0;
            if (outcome === 'ok') mine.max = 0;
            // A reset that is executed later removes all consumption until then.
            mine.isSteady = isApplied;
          } else if (share < 8) {
            const amount = 1 + below(9);
            const outcome = await count(client, keyID, amount);
            note(outcome);
            if (outcome !== 'no') mine.max += amount;
            if (outcome === 'ok' && mine.isSteady) mine.min += amount;
          } else {
            const outcome = await count(client, 'shared', 1);
            note(outcome);
            if (outcome !== 'no') maxConsumed += 1;
            if (outcome === 'ok') minConsumed += 1;
          }
          await wait(below(4));
        }
        client.close();
      });
      await until(() => acknowledged >= before + minAcknowledged, `${minAcknowledged} acknowledged operations`);
      await wait(150 + random.below(250));
      const fault = faults[(cycle + seed) % faults.length] ?? 'service';
      counts[fault] += 1;
      if (fault === 'service') {
        const [killed] = services.splice(random.below(2), 1, start());
        if (killed) await killNow(killed);
      } else if (fault === 'redis') {
        await redis.kill();
        await wait(random.below(300));
        await redis.start();
      } else {
        redis.signal('SIGSTOP');
        await wait(1_300);
        redis.signal('SIGCONT');
      }
      await wait(200 + random.below(300));
      isStopped = true;
      await Promise.all(writing);
    }
    await resetAndCount();
    report.addFindings(await untilFinished(url), `FUZZ_SEED=${seed}`);
    const used = async (keyID: string) =>
      Number((await callRedis<string | null>(redis.url, 'GET', counterOf(keyID))) ?? 0);
    for (const [index, keyID] of own.entries()) {
      const { min, max } = known[index] ?? { min: 0, max: 0 };
      report.addFindings(misplaced(keyID, await used(keyID), min, max), `FUZZ_SEED=${seed} REDIS_CYCLES=${cycles}`);
    }
    const shared = await used('shared');
    report.addFindings(misplaced('shared', shared, minConsumed, Math.min(maxConsumed, sharedMax)), `FUZZ_SEED=${seed}`);
  } finally {
    redis.signal('SIGCONT');
    await Promise.all(services.map(killNow));
  }
  return { ...report.end(counts), acknowledged, open };
}

/** Waits until each reset is applied, and verified after five seconds. */
async function untilFinished(url: string): Promise<Finding[]> {
  const isFinished = async () => {
    const [row] = await statement<{ count: string }>(url, 'SELECT count(*) FROM quota_changes');
    return row?.count === '0';
  };
  try {
    await until(isFinished, 'The application of the resets');
    return [];
  } catch (error) {
    return [{ kind: 'half', what: String(error) }];
  }
}

function misplaced(keyID: string, used: number, min: number, max: number): Finding[] {
  if (used < min)
    return [{ kind: 'lost', what: `${keyID} counts ${used}, and ${min} were acknowledged since its last reset` }];
  if (used > max)
    return [{ kind: 'invented', what: `${keyID} counts ${used}, and no more than ${max} can have been counted` }];
  return [];
}
