// A PostgreSQL server of its own with its defaults, so that a commit waits for the disk.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../support/free-port.mjs';
import { createCluster } from '../support/postgres-cluster.mjs';

const ticksPerSecond = 100;

/** Starts a server in a temporary folder, on a free port. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-bench-postgres-'));
  chmodSync(folder, 0o755);
  const startServer = await createCluster(folder);
  const port = await freePort();
  const server = startServer(port, { shared_buffers: '256MB' });
  const exited = once(server, 'exit');
  let log = '';
  server.stderr.on('data', (chunk) => {
    log += chunk;
  });
  while (!log.includes('ready to accept connections')) {
    if (server.exitCode !== null) throw new Error(log);
    await setTimeout(20);
  }
  return {
    url: `postgres://keyfront@127.0.0.1:${port}/postgres`,
    folder,
    /** Returns the CPU time of all its processes in microseconds, including those that have ended. */
    cpuUs: () => cpuOf(Number(server.pid)),
    /** Sets the CPU affinity of its future processes. */
    pin: (/** @type {string | undefined} */ cpus) => {
      if (cpus !== undefined) spawnSync('/usr/bin/taskset', ['-acp', cpus, String(server.pid)]);
    },
    stop: async () => {
      server.kill('SIGINT');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function cpuOf(/** @type {number} */ postmaster) {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      const isOwn = Number(name) === postmaster;
      // For the postmaster, including children that it has waited for.
      if (isOwn || Number(fields[1]) === postmaster) {
        ticks += fields.slice(11, isOwn ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
      }
    } catch {
      // The process has ended meanwhile.
    }
  }
  return (ticks / ticksPerSecond) * 1e6;
}
