import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { callRedis, ownRedis, type OwnRedis } from './redis.js';
import { until } from './until.js';

/** A primary of Redis and its replica, watched by a Sentinel. */
export interface RedisPair {
  /** A URL of two Sentinels. The first does not respond. */
  readonly url: string;
  /** The URL of the server that Sentinel names. */
  readonly primaryURL: () => Promise<string>;
  /** Kills the primary and resolves when Sentinel has promoted the replica. */
  readonly failOver: () => Promise<void>;
  /** Kills the primary. */
  readonly killPrimary: () => Promise<void>;
  /** Resolves when Sentinel has promoted the replica. */
  readonly promoted: () => Promise<void>;
  /** Restarts the killed server as a replica. Resolves when it replicates the primary and Sentinel can promote it. */
  readonly addReplica: () => Promise<void>;
  /** Resolves when the replica has all writes before this call. */
  readonly replicated: () => Promise<void>;
  /** Stops the replication: the replica receives no further writes. Sentinel promotes it within ten times `downAfterMs`. */
  readonly stopReplication: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

const name = 'counters';

/**
 * Starts a primary, its replica and a Sentinel.
 *
 * @param downAfterMs - time without a response after which Sentinel regards the primary as down; operators choose seconds
 */
export async function redisPair(downAfterMs = 500): Promise<RedisPair> {
  const servers: readonly [OwnRedis, OwnRedis] = await Promise.all([ownRedis(), ownRedis()]);
  let primary: 0 | 1 = 0;
  const replica = () => (primary === 0 ? 1 : 0);
  const portOf = (index: 0 | 1) => new URL(servers[index].url).port;

  const folder = mkdtempSync(join(tmpdir(), 'keyfront-sentinel-'));
  const [port, unused] = [await freePort(), await freePort()];
  const sentinelURL = `redis://127.0.0.1:${port}`;
  const file = join(folder, 'sentinel.conf');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${portOf(0)} 1`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    // Sentinel starts no other failover within twice this time.
    `sentinel failover-timeout ${name} 1000`,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  await follow();
  const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(sentinel, 'exit');

  async function follow(): Promise<void> {
    await callRedis(servers[replica()].url, 'REPLICAOF', '127.0.0.1', portOf(primary));
  }

  async function infoOf(index: 0 | 1): Promise<Record<string, string>> {
    const text = await callRedis<string>(servers[index].url, 'INFO', 'replication');
    return Object.fromEntries(text.split('\r\n').map((line) => line.split(':') as [string, string]));
  }

  async function primaryPort(): Promise<string | undefined> {
    try {
      return (await callRedis<[string, string] | null>(sentinelURL, 'SENTINEL', 'get-master-addr-by-name', name))?.[1];
    } catch {
      return undefined;
    }
  }

  /** Whether Sentinel regards the replica as connected to the primary. */
  async function isReplicaKnown(): Promise<boolean> {
    try {
      const [fields = []] = await callRedis<string[][]>(sentinelURL, 'SENTINEL', 'replicas', name);
      const valueOf = (field: string) => fields[fields.indexOf(field) + 1];
      return valueOf('flags') === 'slave' && valueOf('master-link-status') === 'ok';
    } catch {
      return false;
    }
  }

  const hasReplica = async () => {
    await until(async () => (await infoOf(replica()))['master_link_status'] === 'up', 'The replication');
    await until(isReplicaKnown, 'The replica in Sentinel');
  };
  const killPrimary = () => servers[primary].kill();
  const promoted = async () => {
    const next = replica();
    await until(async () => (await primaryPort()) === portOf(next), 'The promotion of the replica');
    await until(async () => (await infoOf(next))['role'] === 'master', 'The role of the replica');
    primary = next;
  };
  await hasReplica();
  return {
    url: `redis+sentinel://127.0.0.1:${unused},127.0.0.1:${port}/${name}`,
    primaryURL: async () => `redis://127.0.0.1:${await primaryPort()}`,
    killPrimary,
    promoted,
    failOver: async () => {
      await killPrimary();
      await promoted();
    },
    addReplica: async () => {
      await servers[replica()].start();
      await follow();
      await hasReplica();
    },
    replicated: async () => {
      const { master_repl_offset: written = '0' } = await infoOf(primary);
      await until(
        async () => Number((await infoOf(replica()))['slave_repl_offset']) >= Number(written),
        'The replication of what was written',
      );
    },
    stopReplication: async () => {
      const { url } = servers[primary];
      await callRedis(url, 'ACL', 'SETUSER', 'default', '-psync', '-sync');
      await callRedis(url, 'CLIENT', 'KILL', 'TYPE', 'replica');
    },
    remove: async () => {
      sentinel.kill('SIGKILL');
      await ended;
      await Promise.all(servers.map((server) => server.remove()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
