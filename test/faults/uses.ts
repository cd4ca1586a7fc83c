import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readConfig } from '../../src/config/config.js';
import { openServices } from '../../src/storage/open-storage.js';
import type { EnginePlace } from '../support/engines.js';
import { hashOf } from '../support/factories.js';
import { createRandom } from '../support/generated.js';
import type { Process } from '../support/process.js';
import { createClient, type Client } from './kit/client.js';
import { outputOf } from './kit/command.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys } from './kit/workspace.js';

/*
 * Kills the service while clients consume and verify. The counters must be exact, and the use by day may lack no request
 * that had its response long before a kill, and have no request twice.
 */

export interface UseRun {
  readonly main: string;
  readonly place: EnginePlace;
  readonly seed: number;
  readonly kills: number;
  readonly mutant?: string;
}

/** What a kill may lose: five seconds, and the time of a write on a busy machine. */
const lossMs = 8_000;
const keyIDs = Array.from({ length: 6 }, (_, index) => `used-${index}`);

/** The requests of one key in one cycle. */
interface Known {
  /** When each request had its response. */
  readonly at: number[];
  /** Without a response: it may be counted or not. */
  open: number;
}

export async function killDuringUses({ main, place, seed, kills, mutant }: UseRun): Promise<Report> {
  const report = startReport('kill -9 of a service that notes the use of keys', seed);
  const found = (kind: 'lost' | 'invented', what: string) =>
    report.addFindings([{ kind, what }], `FUZZ_SEED=${seed} USE_KILLS=${kills}`);
  const random = createRandom(seed);
  const keys = keyIDs.map((key_id) => ({ key_id, org_id: 'acme', quota_max: 1_000_000_000 }));
  await importKeys(place.env, join(place.folder, 'keys.jsonl'), keys);
  const service = await outputOf(place.env, 'credentials', 'issue', '--kind', 'service', '--label', 'faults');
  const start = () => launch({ main, data: place.folder, mutant, env: place.env });
  const total = new Map(keyIDs.map((keyID) => [keyID, { acknowledged: 0, open: 0, lost: 0 }]));
  let acknowledged = 0;
  let open = 0;
  let before = await usesIn(place);
  let running: Process | undefined;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      report.addCase();
      running = start();
      const client = createClient(await portOf(running));
      const known = new Map(keyIDs.map((keyID): [string, Known] => [keyID, { at: [], open: 0 }]));
      const stop = { isOver: false };
      const using = [...known].map(([keyID, one]) => useUntilOver(client, service, keyID, one, stop));
      await wait(lossMs + 1_500 + random.below(5_000));
      const killedAt = performance.now();
      await killNow(running);
      stop.isOver = true;
      await Promise.all(using);
      client.close();
      const after = await usesIn(place);
      for (const [keyID, one] of known) {
        const sum = total.get(keyID) ?? { acknowledged: 0, open: 0, lost: 0 };
        const written = (after.get(keyID)?.requests ?? 0) - (before.get(keyID)?.requests ?? 0);
        const isLate = one.at.filter((at) => at < killedAt - lossMs).length;
        if (written < isLate) found('lost', `${keyID}: ${written} of ${isLate} requests are in the use by day`);
        if (written > one.at.length + one.open) found('invented', `${keyID}: ${written} of ${one.at.length} requests`);
        sum.acknowledged += one.at.length;
        sum.open += one.open;
        sum.lost += Math.max(0, one.at.length - written);
        const used = after.get(keyID)?.used ?? 0;
        if (used < sum.acknowledged) found('lost', `${keyID}: ${used} of ${sum.acknowledged} are counted`);
        if (used > sum.acknowledged + sum.open) found('invented', `${keyID}: ${used} are counted`);
        acknowledged += one.at.length;
        open += one.open;
      }
      before = after;
    }
  } finally {
    if (running) await killNow(running);
  }
  const lost = [...total.values()].reduce((sum, one) => sum + one.lost, 0);
  return { ...report.end({ notInTheUseByDay: lost }), acknowledged, open };
}

/** What the database has of each key. */
async function usesIn({ env }: EnginePlace): Promise<Map<string, { requests: number; used: number }>> {
  const { config, secrets } = readConfig(env);
  const services = await openServices(config, secrets);
  try {
    const keys = await Promise.all(keyIDs.map((keyID) => services.store.find(hashOf(keyID))));
    const stored = keys.flatMap((key) => key ?? []);
    const today = Math.floor(Date.now() / 86_400_000);
    const days = await services.uses.ofKeys(stored, { from: today - 1, to: today });
    return new Map(
      keyIDs.map((keyID, index) => {
        const requests = (days[index] ?? []).reduce((sum, { allowed, denied }) => sum + Number(allowed + denied), 0);
        return [keyID, { requests, used: Number(stored[index]?.quota.used ?? 0n) }];
      }),
    );
  } finally {
    await services.close();
  }
}

/** Consumes and verifies in turn until the service is killed. */
async function useUntilOver(client: Client, service: string, keyID: string, known: Known, stop: { isOver: boolean }) {
  const headers = { 'x-svc-authorization': service };
  for (let count = 0; !stop.isOver; count += 1) {
    const sent =
      count % 2 === 0
        ? await client.send('POST', `/svc/org/keys/${keyID}/quota`, headers, '{"amount":1}')
        : await client.send('POST', '/svc/keys/verify', headers, JSON.stringify({ requests: [{ key_id: keyID }] }));
    if (sent === 'unreached') return;
    if (sent === 'no response') {
      known.open += 1;
      return;
    }
    if (sent.status === 200) known.at.push(performance.now());
    else known.open += 1;
    await wait(5);
  }
}
