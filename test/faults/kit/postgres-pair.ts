import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../../support/free-port.mjs';
import { childrenOf } from '../../support/process.js';
import { until } from '../../support/until.js';

const execute = promisify(execFile);

/** The folder of Debian's PostgreSQL, whose packages contain pg_basebackup; undefined if it is not installed. */
export const serverPrograms = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql')
      .toSorted((one, other) => Number(other) - Number(one))
      .map((version) => join('/usr/lib/postgresql', version, 'bin'))
      .find((folder) => existsSync(join(folder, 'pg_basebackup')))
  : undefined;

/** PostgreSQL does not run as root. */
const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Node {
  readonly port: number;
  readonly data: string;
  server: ChildProcess;
}

/** A primary and its standby. */
export interface PostgresPair {
  /** A URL with both hosts. */
  readonly url: string;
  /** Returns the URL of the present primary. */
  readonly primaryURL: () => string;
  /** Kills the primary with all its processes, and promotes its standby. The killed server does not restart. */
  readonly failOver: () => Promise<void>;
  /** Replaces the killed server by a standby of the new primary. Resolves when the replication streams. */
  readonly addStandby: () => Promise<void>;
  /** Suspends the WAL sender, without a notice to either server. */
  readonly stopReplication: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a primary and a standby. If `isSynchronous`, a commit waits until the standby has written it to disk;
 * otherwise, the replication is asynchronous.
 */
export async function startPostgresPair(isSynchronous: boolean): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-postgres-pair-'));
  chmodSync(folder, 0o755);
  const ports = [await freePort(), await freePort()] as const;
  const placeOf = (index: 0 | 1) => ({ port: ports[index], data: join(folder, `node-${index}`) });
  const urlOf = ({ port }: Pick<Node, 'port'>) => `postgres://keyfront@127.0.0.1:${port}/postgres`;
  const program = (name: string) => join(serverPrograms ?? '', name);
  const call = (name: string, ...args: string[]) => execute(program(name), args, { ...owner, cwd: '/' });

  function start({ port, data }: Pick<Node, 'port' | 'data'>): ChildProcess {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=100', 'fsync=off'];
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    return spawn(program('postgres'), args, { ...owner, cwd: '/', stdio: 'ignore' });
  }

  let primaryIndex: 0 | 1 = 0;
  mkdirSync(placeOf(0).data, { mode: 0o700 });
  if (owner.uid !== undefined) chownSync(placeOf(0).data, owner.uid, owner.gid);
  await call(
    'initdb',
    `--pgdata=${placeOf(0).data}`,
    '--encoding=UTF8',
    '--locale=C',
    '--username=keyfront',
    '--auth=trust',
    '--no-sync',
  );
  let primary: Node = { ...placeOf(0), server: start(placeOf(0)) };
  let standby: Node | undefined;
  await until(() => accepts(urlOf(primary)), 'The start of the primary');

  async function addStandby(): Promise<void> {
    const place = placeOf(primaryIndex === 0 ? 1 : 0);
    rmSync(place.data, { recursive: true, force: true });
    mkdirSync(place.data, { mode: 0o700 });
    if (owner.uid !== undefined) chownSync(place.data, owner.uid, owner.gid);
    const source = `host=127.0.0.1 port=${primary.port} user=keyfront`;
    await call('pg_basebackup', '-D', place.data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync', '-d', source);
    standby = { ...place, server: start(place) };
    // After the copy, so that the standby does not wait for another server when it is promoted.
    if (isSynchronous) await valueOf(urlOf(primary), `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await valueOf(urlOf(primary), 'SELECT pg_reload_conf()');
    const state = isSynchronous ? 'sync' : 'async';
    const select = `SELECT state = 'streaming' AND sync_state = '${state}' FROM pg_stat_replication WHERE ${isStandby}`;
    await until(async () => (await valueOf(urlOf(primary), select)) === true, 'The replication');
  }

  return {
    url: `postgres://keyfront@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/postgres`,
    primaryURL: () => urlOf(primary),
    async failOver() {
      if (!standby) throw new Error('There is no standby.');
      await killTree(primary.server);
      await call('pg_ctl', 'promote', '-D', standby.data, '-w');
      [primary, standby, primaryIndex] = [standby, undefined, primaryIndex === 0 ? 1 : 0];
    },
    addStandby,
    async stopReplication() {
      const pid = await valueOf(urlOf(primary), `SELECT pid FROM pg_stat_replication WHERE ${isStandby}`);
      process.kill(Number(pid), 'SIGSTOP');
    },
    async stop() {
      for (const node of [primary, standby]) if (node) await killTree(node.server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The row of the standby in `pg_stat_replication`, where `pg_basebackup` may have one as well. */
const isStandby = `application_name = 'walreceiver'`;

/** Resolves to the only value of a statement; undefined if it returns no row. */
async function valueOf(connectionString: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString });
  // The statement rejects.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** Resolves to whether a server accepts connections. */
async function accepts(url: string): Promise<boolean> {
  try {
    return (await valueOf(url, 'SELECT true')) === true;
  } catch {
    return false;
  }
}

/** Kills a server and its processes, each of which has its own process group. */
async function killTree(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const children = childrenOf(server.pid ?? 0);
  server.kill('SIGKILL');
  for (const pid of children) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended with the server.
    }
  }
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
}
