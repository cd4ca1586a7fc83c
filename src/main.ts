#!/usr/bin/env node
import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { launch, supportedNode } from './bin/launch.js';
import type { WorkerMessage, PrimaryProcess, WorkerProcess } from './cli/server/worker-messages.js';
import { createOutputWriter } from './cli/output/stdout.js';
import { connectToPrimary } from './cli/server/primary-channel.js';
import { run } from './cli/main.js';

const stopSignals = ['SIGTERM', 'SIGINT'] as const;
/** Longer than the server takes to stop. What is not over by then never will be. */
const stopWithinMs = 10_000;
/** How long what is still open at the end is waited for, such as a collector of traces that does not answer. */
const lingerMs = 500;
/** The one argument that a worker gets. */
const asWorker = '(worker)';
/** The first argument of a process that `bin/keyfront.ts` has started. It stops when the channel between them closes. */
const asLaunched = '(launched)';

// Node opens its inspector, and with it all memory, to whoever may send this signal. A handler of ours comes before it.
if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);

const node = supportedNode();
if (node !== process.execPath) await launch(node, import.meta.url, process.argv.slice(2));

// The only file that touches the process, beside the launcher: every other module gets what it needs as parameters.
// Whatever is written is for its owner, whoever writes it.
process.umask(0o077);
const primary = process.argv[2] === asWorker && process.send ? primaryOfThis() : undefined;
const isLaunched = process.argv[2] === asLaunched && process.send !== undefined;
const say = (text: string) => void process.stderr.write(text);
// Where nobody reads what is said, there is nobody to tell.
process.stderr.on('error', () => undefined);
const output = createOutputWriter(process.stdout, say);
const code = await run(process.argv.slice(isLaunched ? 3 : 2), {
  env: process.env,
  stdout: output.write,
  stdoutDrained: output.drained,
  stderr: say,
  // Only a command that reads it should open it.
  get stdin() {
    return process.stdin;
  },
  isStderrTTY: process.stderr.isTTY,
  isStdoutTTY: process.stdout.isTTY,
  pid: process.pid,
  onStop: (callback) => {
    const stop = () => {
      // The next signal finds Node's own handling, which ends the process at once.
      for (const signal of stopSignals) process.removeListener(signal, stop);
      process.removeListener('disconnect', stop);
      callback();
    };
    for (const signal of stopSignals) process.on(signal, stop);
    if (!isLaunched) return;
    if (process.connected) process.on('disconnect', stop);
    else stop();
  },
  onUncaughtException: (callback) => {
    // Rejections that nobody handles come here too.
    process.on('uncaughtException', (fault) => {
      setTimeout(() => process.exit(1), stopWithinMs).unref();
      callback(fault);
    });
  },
  nodeOptions: [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)],
  startWorker,
  ...(primary && { primary }),
});
const lost = await output.end();
process.exitCode = lost === 0 ? code : lost;
if (primary || isLaunched) {
  // An open channel would keep the process alive, and it is not the parent that ends now.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}
setTimeout(() => process.exit(), lingerMs).unref();

function startWorker(): WorkerProcess {
  const child = fork(process.argv[1] ?? '', [asWorker]);
  // Node sends one connection after another, and forgets those in line when the worker ends.
  const inLine = new Set<Socket>();
  // Whatever goes wrong with a worker ends it, and that is told.
  child.on('error', () => undefined);
  return {
    pid: child.pid,
    send: (message, connection) => {
      if (connection) inLine.add(connection);
      if (!child.connected) return;
      // Kept open until it is on its way: Node would lose one that it cannot send any more, and its client wait for ever.
      child.send(message, connection, { keepOpen: true }, (error) => {
        if (connection && !error && inLine.delete(connection)) connection.destroy();
      });
    },
    onMessage: (callback) => void child.on('message', (message) => callback(message as WorkerMessage)),
    onExit: (callback) =>
      void child.on('exit', (code, signal) =>
        callback({ isSuccess: code === 0, reason: signal ?? `exit code ${code}`, unsent: [...inLine] }),
      ),
    kill: () => void child.kill('SIGKILL'),
  };
}

function primaryOfThis(): PrimaryProcess {
  // A terminal, or a tool that ends a whole process group, signals workers too. The primary tells them when to stop.
  for (const signal of stopSignals) process.on(signal, () => undefined);
  return connectToPrimary(process);
}
