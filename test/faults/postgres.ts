import { mkdtemp, chmod, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { stopPostgres } from '../support/postgres-setup.js';
import type { Process } from '../support/process.js';
import { until } from '../support/until.js';
import { keyfront } from './kit/command.js';
import { compare, type Finding } from './kit/compare.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf } from './kit/service.js';
import { readStoredOfServer, statement } from './kit/stored.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Two services on one PostgreSQL database, and writers on both. By turns one of the services is killed, the server with
 * all of its processes, or the connections alone. Each time the database must be what all the clients know.
 */

interface OwnServer {
  readonly server: TestPostgres;
  /** Kills the server, which is started again at once. Resolves when it takes connections. */
  readonly crash: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A separate server, which can be killed without an effect on other tests. */
export async function startOwnServer(): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'keyfront-own-postgres-'));
  await chmod(folder, 0o755);
  const server = await startPostgres(folder, process.pid);
  const postmaster = async () =>
    Number((await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
  return {
    server,
    async crash() {
      process.kill(await postmaster(), 'SIGKILL');
      if (!('url' in server)) return;
      const { url } = server;
      const isThere = () =>
        statement(url, 'SELECT').then(
          () => true,
          () => false,
        );
      await until(isThere, 'The server after its crash');
    },
    stop: () => stopPostgres(folder),
  };
}

interface PostgresRun extends FaultRun {
  readonly cycles: number;
  readonly own: OwnServer;
  /** Of an empty database on it. */
  readonly url: string;
}

const faults = ['service', 'server', 'connections'] as const;

/** Ends early where something is found. */
export async function killAroundPostgres(given: PostgresRun): Promise<Report> {
  const { main, workspace, seed, cycles, own, url, mutant } = given;
  const report = startReport('kill -9 of a service, or of PostgreSQL, with two services on it', seed);
  const random = createRandom(seed);
  const ledger: Entry[] = [];
  const counts = { service: 0, server: 0, connections: 0 };
  const env = { KEYFRONT_DATABASE_URL: url };
  const folder = await workspace.fresh(`postgres-${mutant === undefined ? 'sound' : 'mutant'}`, env);
  const { data } = folder;
  const services: Process[] = [];
  const start = () => launch({ main, data, mutant, env });
  try {
    services.push(start(), start());
    for (let cycle = 0; cycle < cycles && report.found() === 0; cycle += 1) {
      report.addCase();
      const ports = await Promise.all(services.map(portOf));
      const writing = ports.map((port, index) =>
        startWriting({ port, folder, seed: seed + cycle * 2 + index, name: `c${cycle}s${index}`, ledger, writers: 4 }),
      );
      await Promise.all(writing.map(({ begun }) => begun));
      await wait(150 + random.below(400));
      const fault = faults[(cycle + seed) % faults.length] ?? 'service';
      counts[fault] += 1;
      if (fault === 'service') {
        const index = random.below(2);
        const [killed] = services.splice(index, 1, start());
        if (killed) await killNow(killed);
      } else if (fault === 'server') await own.crash();
      else
        await statement(
          url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keyfront'`,
        );
      // What is left goes on, or comes back by itself.
      await wait(250 + random.below(250));
      await Promise.all(writing.map((one) => one.stop()));
      report.addFindings(await look(data, url, ledger), `FUZZ_SEED=${seed} POSTGRES_CYCLES=${cycle + 1}`);
      if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
    }
  } finally {
    await Promise.all(services.map(killNow));
  }
  report.addLedger(ledger, `FUZZ_SEED=${seed}`);
  return report.end(counts);
}

/** Checks the database, and compares it with what the clients know. */
export async function look(data: string, url: string, ledger: readonly Entry[]): Promise<Finding[]> {
  const { code, stderr } = await keyfront({ KEYFRONT_DATA: data, KEYFRONT_DATABASE_URL: url }, 'check');
  const findings: Finding[] = code === 0 ? [] : [{ kind: 'damaged', what: `keyfront check: ${stderr}` }];
  return [...findings, ...compare(ledger, await readStoredOfServer(url))];
}
