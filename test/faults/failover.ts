import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { until } from '../support/until.js';
import type { Entry } from './kit/ledger.js';
import type { PostgresPair } from './kit/postgres-pair.js';
import { recoveryOf, startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { Process } from '../support/process.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';
import { look } from './postgres.js';

/*
 * Two services on a primary with one standby, and writers on both. The primary is killed again and again, and its standby
 * promoted. The services are never started again.
 */

interface FailoverRun extends Omit<FaultRun, 'mutant'> {
  readonly failovers: number;
  readonly pair: PostgresPair;
  /** Whether the standby gets nothing of what is written before the failover. */
  readonly isStandbyBehind?: boolean;
}

/** Ends early when something is found. */
export async function killPrimary({
  main,
  workspace,
  seed,
  failovers,
  pair,
  isStandbyBehind,
}: FailoverRun): Promise<Report> {
  const report = startReport('kill -9 of the PostgreSQL primary under load, with promotion of its standby', seed);
  const random = createRandom(seed);
  const ledger: Entry[] = [];
  const env = { KEYFRONT_DATABASE_URL: pair.url };
  const recoveryMs: number[] = [];
  const folder = await workspace.fresh(`failover-${isStandbyBehind ? 'behind' : 'current'}`, env);
  const { data } = folder;
  const services: Process[] = [];
  let endedServices = 0;
  let isOver = false;
  try {
    services.push(launch({ main, data, env }), launch({ main, data, env }));
    for (const { exited } of services) void exited.then(() => (endedServices += isOver ? 0 : 1));
    const ports = await Promise.all(services.map(portOf));
    for (let cycle = 0; cycle < failovers && report.found() === 0; cycle += 1) {
      report.addCase();
      await pair.addStandby();
      if (isStandbyBehind) await pair.stopReplication();
      const ledgers = ports.map((): Entry[] => []);
      const writing = ports.map((port, index) =>
        startWriting({
          port,
          folder,
          seed: seed + cycle * 2 + index,
          name: `c${cycle}s${index}`,
          ledger: ledgers[index] ?? [],
          writers: 4,
        }),
      );
      await Promise.all(writing.map(({ begun }) => begun));
      await wait(150 + random.below(400));
      const killedAt = performance.now();
      await pair.failOver();
      for (const entries of ledgers) {
        const isRecovered = ({ outcome, sent }: Entry) => outcome === 'ok' && (sent ?? 0) > killedAt;
        await until(() => endedServices > 0 || entries.some(isRecovered), 'A change after the failover');
        const first = entries.find(isRecovered);
        if (first) recoveryMs.push(Math.round((first.completed ?? 0) - killedAt));
      }
      await wait(100 + random.below(200));
      await Promise.all(writing.map((one) => one.stop()));
      ledger.push(...ledgers.flat());
      const found = await look(data, pair.primaryURL(), ledger);
      report.addFindings(found, `FUZZ_SEED=${seed} POSTGRES_FAILOVERS=${cycle + 1}`);
      if (report.found() > 0 && !isStandbyBehind) await workspace.keep(ledger);
    }
  } finally {
    isOver = true;
    await Promise.all(services.map(killNow));
  }
  report.addLedger(ledger, `FUZZ_SEED=${seed}`);
  return report.end({ endedServices, ...recoveryOf(recoveryMs) });
}
