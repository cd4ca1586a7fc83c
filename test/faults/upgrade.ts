import { createRandom } from '../support/generated.js';
import type { TestDatabase } from '../support/postgres.js';
import { compare } from './kit/compare.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { Process } from '../support/process.js';
import { readStored, readStoredOfServer } from './kit/stored.js';
import type { FaultRun } from './kit/workspace.js';
import { respondInTurn, startWriting, type Serving } from './kit/writers.js';

/*
 * Two services of a version are replaced one by one by those of a next version, which adds a column to signed rows, while
 * clients change the same keys through all services that run.
 */

interface UpgradeRun extends Omit<FaultRun, 'mutant'> {
  /** The command line of the next version. */
  readonly next: string;
  readonly upgrades: number;
  /** Creates an empty PostgreSQL database; without it, the services share a SQLite file. */
  readonly createDatabase: (() => Promise<TestDatabase>) | undefined;
}

/** Ends early when something is found. */
export async function upgradeUnderLoad({
  main,
  next,
  workspace,
  seed,
  upgrades,
  createDatabase,
}: UpgradeRun): Promise<Report> {
  const store = createDatabase ? 'PostgreSQL' : 'SQLite';
  const report = startReport(`a rolling upgrade of two services on ${store} under load`, seed);
  let rejected = 0;
  for (let run = 0; run < upgrades && report.found() === 0; run += 1) {
    report.addCase();
    const random = createRandom(seed + run);
    const database = await createDatabase?.();
    const env = database ? { KEYFRONT_DATABASE_URL: database.url } : {};
    const name = `upgrade-${store}-${run}`;
    const folder = await workspace.fresh(name, env);
    const ledger: Entry[] = [];
    const running: Process[] = [];
    let loads = 0;

    const start = async (version: string): Promise<Serving> => {
      const service = launch({ main: version, data: folder.data, env });
      running.push(service);
      const port = await portOf(service);
      const load = { port, folder, seed: seed + run * 8 + loads, name: `u${run}s${loads}`, ledger, writers: 4 };
      loads += 1;
      return { service, writing: startWriting(load) };
    };
    const stop = async ({ service, writing }: Serving) => {
      await writing.stop();
      service.kill('SIGTERM');
      await service.exited;
    };
    try {
      const old = [await start(main), await start(main)] as const;
      await respondInTurn(old, random);
      const first = await start(next);
      await respondInTurn([first, ...old], random);
      await stop(old[0]);
      const second = await start(next);
      await respondInTurn([second, first, old[1]], random);
      await stop(old[1]);
      await respondInTurn([first, second], random);
      await stop(first);
      await stop(second);
      const check = launch({ main: next, data: folder.data, env, args: ['check'] });
      const where = `FUZZ_SEED=${seed + run} UPGRADES=1`;
      if ((await check.exited).code !== 0) {
        report.addFindings([{ kind: 'damaged', what: `keyfront check: ${check.stderr()}` }], where);
      }
      const stored = database ? await readStoredOfServer(database.url) : readStored(folder.data);
      report.addFindings(compare(ledger, stored), where);
      report.addLedger(ledger, where);
      rejected += ledger.filter(({ response }) => response?.includes('INTERNAL')).length;
    } finally {
      await Promise.all(running.map(killNow));
      await database?.drop();
    }
  }
  return report.end({ rejectedRows: rejected });
}
