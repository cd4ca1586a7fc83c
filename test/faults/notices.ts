import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.js';
import { recordExpiryNotices } from '../../src/keys/expiry-notices.js';
import { openServices } from '../../src/storage/open-storage.js';
import type { EnginePlace } from '../support/engines.js';
import { hashOf } from '../support/factories.js';
import { allNotices } from '../support/feed.js';
import { createRandom } from '../support/generated.js';
import type { Process } from '../support/process.js';
import { until } from '../support/until.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys } from './kit/workspace.js';

/*
 * One service on a file, or two on one PostgreSQL database, that are killed while they record which keys have expired, and
 * which have used up their quotas. Then every notice must be there once.
 */

export interface NoticeRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
  readonly mutant?: string;
}

/** More than a service notes between the first notice of a sweep and a kill, so that each kill meets a sweep. */
const expiredPerKill = 500;
const quotaKeys = 20;
const quotaMax = 10;
const hour = 3_600;

export async function killDuringNotices({ main, place, seed, kills, mutant }: NoticeRun): Promise<Report> {
  const report = startReport(`kill -9 of a service that records notices`, seed);
  const found = (kind: 'lost' | 'invented', what: string) =>
    report.addFindings([{ kind, what }], `FUZZ_SEED=${seed} NOTICE_KILLS=${kills}`);
  const random = createRandom(seed);
  const expired = Array.from({ length: (kills + 1) * expiredPerKill }, (_, index) => `expired-${index}`);
  const limited = Array.from({ length: quotaKeys }, (_, index) => `limited-${index}`);
  const service = await prepare(place, expired, limited);
  const start = () => launch({ main, data: place.folder, mutant, env: place.env });
  const recorded = async () => {
    const [row] = await place.rows<{ count: bigint | string }>(
      'SELECT count(*) AS count FROM history WHERE event_id IS NOT NULL',
    );
    return Number(row?.count);
  };
  const services: Process[] = [start()];
  let acknowledged = 0;
  try {
    await portOf(services[0] ?? start());
    if (place.database) services.push(start());
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      const clients = (await Promise.all(services.map(portOf))).map(createClient);
      const before = await recorded();
      const stop = { isOver: false };
      const using = clients.map((client) => useUntilOver(client, service, limited, stop));
      await until(async () => (await recorded()) > before, 'A notice of a sweep');
      await wait(random.below(60));
      // The one that has been there for longest.
      const [killed] = services.splice(0, 1, start());
      if (killed) await killNow(killed);
      services.push(...services.splice(0, 1));
      stop.isOver = true;
      for (const count of await Promise.all(using)) acknowledged += count;
      for (const client of clients) client.close();
    }
    // What was lost of a quota is noted again by the next request, which is rejected.
    const [port] = await Promise.all(services.map(portOf));
    const client = createClient(port ?? 0);
    for (let round = 0; round <= quotaMax; round += 1) {
      for (const keyID of limited) await use(client, service, keyID);
    }
    client.close();
    const wanted = expired.length + quotaKeys * 3;
    // Until nothing more comes: twice the time between two sweeps.
    for (
      let last = { count: 0, at: Date.now() };
      last.count < wanted && Date.now() < last.at + 12_000;
      await wait(100)
    ) {
      const count = await recorded();
      if (count > last.count) last = { count, at: Date.now() };
    }
    await wait(500);
  } finally {
    await Promise.all(services.map(killNow));
  }
  const counts = new Map<string, number>();
  for (const { kind, keyHash, threshold = '' } of await allNotices(place)) {
    const name = `${kind} ${threshold} ${keyHash}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const expected = [
    ...expired.map((keyID) => `expired  ${hashOf(keyID)}`),
    ...['quota_threshold 50', 'quota_threshold 100', 'quota_exhausted '].flatMap((what) =>
      limited.map((keyID) => `${what} ${hashOf(keyID)}`),
    ),
  ];
  for (const name of expected) if (!counts.has(name)) found('lost', name);
  for (const [name, count] of counts) if (count > 1) found('invented', `${name}, ${count} times`);
  if (counts.size > expected.length) found('invented', `${counts.size} notices instead of ${expected.length}`);
  return { ...report.end({ notices: counts.size }), acknowledged };
}

/** Imports the keys that have expired after the time that the notices have reached, and those with a quota. */
async function prepare(
  { folder, env }: EnginePlace,
  expired: readonly string[],
  limited: readonly string[],
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const file = join(folder, 'keys.jsonl');
  const quota = { quota_max: quotaMax, quota_renewal_rate: 24 * hour };
  await importKeys(
    env,
    file,
    limited.map((key_id) => ({ key_id, org_id: 'acme', ...quota, monitor: { trigger_limits: [50, 100] } })),
  );
  const { config, secrets } = readConfig(env);
  const services = await openServices(config, secrets, { now: () => new Date((now - 24 * hour) * 1000) });
  await recordExpiryNotices(services, []);
  await services.close();
  await importKeys(
    env,
    file,
    expired.map((key_id, index) => ({ key_id, org_id: 'acme', expires: now - 20 * hour + (index % (10 * hour)) })),
  );
  return outputOf(env, 'credentials', 'issue', '--kind', 'service', '--label', 'faults');
}

async function use(client: Client, service: string, keyID: string): Promise<boolean> {
  const headers = { 'x-svc-authorization': service };
  const sent = await client.send('POST', `/svc/org/keys/${keyID}/quota`, headers, '{"amount":1}');
  return typeof sent !== 'string' && sent.status === 200;
}

/** Consumes now and then, so that thresholds are reached in several cycles. Resolves to the number of responses. */
async function useUntilOver(client: Client, service: string, keyIDs: readonly string[], stop: { isOver: boolean }) {
  let count = 0;
  for (let round = 0; !stop.isOver; round += 1) {
    if (await use(client, service, keyIDs[round % keyIDs.length] ?? '')) count += 1;
    await wait(40);
  }
  return count;
}
