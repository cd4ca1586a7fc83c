// Runs a PostgreSQL server for tests in a folder, until SIGTERM or until the process with the given id has ended:
// node postgres-server.mjs FOLDER PROCESS
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import timers from 'node:timers';
import process, { argv, exit, kill, pid } from 'node:process';
import { freePort } from './free-port.mjs';
import { createCluster } from './postgres-cluster.mjs';

const [, , folder = '', owner = ''] = argv;
const write = (/** @type {string} */ name, /** @type {string} */ text) => {
  // Atomic, because other processes wait for the file.
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
};

try {
  writeFileSync(join(folder, 'supervisor'), String(pid));
  const startServer = await createCluster(folder, ['--no-sync']);
  const port = await freePort();
  // The tests kill processes; a test of power loss would require fsync.
  const settings = { max_connections: '200', shared_buffers: '64MB', fsync: 'off', autovacuum: 'off' };
  const start = () => {
    const server = startServer(port, settings);
    server.stderr.on('data', (/** @type {Buffer} */ chunk) => {
      const text = chunk.toString('utf8');
      writeFileSync(join(folder, 'log'), text, { flag: 'a' });
      if (text.includes('ready to accept connections')) write('url', `postgres://keyfront@127.0.0.1:${port}/postgres`);
    });
    server.on('exit', (code) => {
      if (!existsSync(join(folder, 'url'))) fail(new Error(`The server ended with ${code}.`));
      // A test has killed the server. It restarts, as with a service manager.
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
