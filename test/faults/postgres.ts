import { mkdtemp, chmod, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { run } from '../../src/cli/main.js';
import { createRandom } from '../support/generated.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { compare, type Finding } from './kit/compare.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf, type Process } from './kit/service.js';
import type { Stored, StoredChange } from './kit/stored.js';
import type { DataFolder, Workspace } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Two services on one PostgreSQL database, and writers on both. By turns one of the services is killed, the server with
 * all of its processes, or the connections alone. Each time the database must be what all the clients know.
 */

export interface OwnServer {
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
      if ('url' in server) await untilThere(server.url);
    },
    async stop() {
      const keeper = Number(await readFile(join(folder, 'keeper'), 'utf8').catch(() => '0'));
      if (keeper > 0) process.kill(keeper, 'SIGTERM');
      for (let isThere = keeper > 0; isThere;) {
        await wait(50);
        try {
          process.kill(keeper, 0);
        } catch {
          isThere = false;
        }
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilThere(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await wait(50);
    }
  }
}

export interface PostgresRun {
  readonly main: string;
  readonly workspace: Workspace;
  readonly seed: number;
  readonly cycles: number;
  readonly own: OwnServer;
  /** Of an empty database on it. */
  readonly url: string;
  readonly mutant?: string;
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
  const folder = await prepare(
    join(workspace.folder, `postgres-${mutant === undefined ? 'sound' : 'mutant'}`),
    workspace,
    env,
  );
  const services: Process[] = [];
  const start = () => launch({ main, data: folder.data, mutant, env });
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
      report.addFindings(await look(folder.data, env, url, ledger), `FUZZ_SEED=${seed} POSTGRES_CYCLES=${cycle + 1}`);
      if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
    }
  } finally {
    await Promise.all(services.map(killNow));
  }
  report.addLedger(ledger, `FUZZ_SEED=${seed}`);
  return report.end(counts);
}

/** A database with credentials and the keys of the file. */
export async function prepare(
  data: string,
  { keysFile }: Pick<Workspace, 'keysFile'>,
  env: Record<string, string>,
): Promise<DataFolder> {
  const outputOf = async (...args: string[]) => {
    const { code, out, stderr } = await keyfront(data, env, args);
    if (code !== 0) throw new Error(`keyfront ${args.join(' ')} ended with ${code}: ${stderr}`);
    return out.trim();
  };
  await outputOf('keys', 'import', keysFile);
  const issue = (kind: string) => outputOf('credentials', 'issue', '--kind', kind, '--label', 'faults');
  return { data, management: await issue('management'), service: await issue('service') };
}

/** Runs a command on a database in this process. */
export async function keyfront(data: string, env: Record<string, string>, args: readonly string[]) {
  let out = '';
  let stderr = '';
  const code = await run(args, {
    env: { KEYFRONT_DATA: data, ...env },
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    isStderrTTY: false,
    onStop: () => undefined,
  });
  return { code, out, stderr };
}

/** Checks the database, and compares it with what the clients know. */
export async function look(
  data: string,
  env: Record<string, string>,
  url: string,
  ledger: readonly Entry[],
): Promise<Finding[]> {
  const { code, stderr } = await keyfront(data, env, ['check']);
  const findings: Finding[] = code === 0 ? [] : [{ kind: 'damaged', what: `keyfront check: ${stderr}` }];
  return [...findings, ...compare(ledger, await readStoredOfServer(url))];
}

/** Runs a statement behind the services' back. */
export async function statement<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Reads the tables themselves, so that what is compared does not come from the code that is tested. */
export async function readStoredOfServer(url: string): Promise<Stored> {
  const read = <Row extends object>(sql: string) => statement<Row>(url, sql);
  const keys = await read<{ key_hash: string; version: string; mark: string; used: string }>(
    `SELECT key_hash, version, definition::json ->> 'alias' AS mark, quota_used AS used FROM keys`,
  );
  const terms = new Map<string, string[]>();
  for (const { key_hash, tag } of await read<{ key_hash: string; tag: string }>(
    'SELECT key_hash, substr(term, 3) AS tag FROM key_terms',
  )) {
    terms.set(key_hash, [...(terms.get(key_hash) ?? []), tag]);
  }
  const histories = new Map<string, StoredChange[]>();
  for (const { key_hash, version, mark } of await read<{ key_hash: string; version: string; mark: string }>(
    `SELECT key_hash, version_after AS version, definition::json ->> 'alias' AS mark FROM audit ORDER BY version_after`,
  )) {
    const history = histories.get(key_hash) ?? [];
    history.push({ version: Number(version), mark });
    histories.set(key_hash, history);
  }
  const [credentials] = await read<{ count: string }>('SELECT count(*) FROM credentials');
  return {
    keys: new Map(
      keys.map(({ key_hash, version, mark, used }) => [
        key_hash,
        { version: Number(version), mark, terms: terms.get(key_hash) ?? [], used: Number(used) },
      ]),
    ),
    histories,
    credentials: Number(credentials?.count ?? 0),
  };
}
