#!/usr/bin/env node
import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import nodeModule from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { requireSupportedNode } from './bin/launch.js';
import {
  type WorkerMessage,
  type PrimaryProcess,
  type WorkerProcess,
  connectToPrimary,
} from './cli/serve/worker-channel.js';
import { createOutputWriter } from './cli/stdout.js';

const stopSignals = ['SIGTERM', 'SIGINT'] as const;
/** Longer than the server takes to stop. */
const stopTimeoutMs = 10_000;
/** How long the exit waits for open handles, such as a connection to a trace collector that does not respond. */
const exitTimeoutMs = 500;
/** The only argument of a worker process. */
const workerArgument = '(worker)';
/** The first argument of a process that `bin/keyfront.ts` has started. It stops when the channel between them closes. */
const launchedArgument = '(launched)';

// By default, Node opens its inspector on SIGUSR1, which exposes the memory. A handler disables that.
if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);

requireSupportedNode();

// Only this file and the launcher use `process`: other modules receive what they need as parameters.
// Files are readable by their owner only.
process.umask(0o077);
// Caches the compiled code of the modules that load after this, which saves a sixth of the CPU time of a start. Only if
// the owner of the program runs it: a folder of another user would prevent the owner from building again.
if (statSync(import.meta.dirname).uid === (process.getuid?.() ?? 0)) {
  nodeModule.enableCompileCache(join(import.meta.dirname, 'compile-cache'));
}
const { run } = await import('./cli/main.js');
const primary = process.argv[2] === workerArgument && process.send ? connectWorkerToPrimary() : undefined;
const isLaunched = process.argv[2] === launchedArgument && process.send !== undefined;
const stderr = (text: string) => void process.stderr.write(text);
// Errors of standard error cannot be reported.
process.stderr.on('error', () => undefined);
const output = createOutputWriter(process.stdout, stderr);
const code = await run(process.argv.slice(isLaunched ? 3 : 2), {
  env: process.env,
  stdout: output.write,
  stdoutDrained: output.drained,
  stderr,
  // A getter, because reading `process.stdin` opens it.
  get stdin() {
    return process.stdin;
  },
  // Without `process.stdin`, which would open it.
  isStdinTTY: isatty(0),
  isStderrTTY: process.stderr.isTTY,
  isStdoutTTY: process.stdout.isTTY,
  columns: process.stdout.columns,
  pid: process.pid,
  onStop: (callback) => {
    const stop = () => {
      // A second signal has Node's default effect, which ends the process at once.
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
    // Node also emits unhandled rejections here.
    process.on('uncaughtException', (error) => {
      setTimeout(() => process.exit(1), stopTimeoutMs).unref();
      callback(error);
    });
  },
  nodeOptions: [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)],
  startWorker,
  ...(primary && { primary }),
});
const outputExitCode = await output.end();
process.exitCode = outputExitCode === 0 ? code : outputExitCode;
if (primary || isLaunched) {
  // An open channel would keep the process alive. The listeners handle the exit of the parent, not this disconnect.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}
setTimeout(() => process.exit(), exitTimeoutMs).unref();

function startWorker(args: readonly string[]): WorkerProcess {
  const child = fork(process.argv[1] ?? '', [workerArgument, ...args]);
  // Connections that Node has queued but not yet sent. Node drops them when the worker ends.
  const unsent = new Set<Socket>();
  // An error ends the worker, and `exit` reports that.
  child.on('error', () => undefined);
  return {
    pid: child.pid,
    send: (message, connection) => {
      if (connection) unsent.add(connection);
      if (!child.connected) return;
      // `keepOpen`: otherwise Node would lose a connection that it can no longer send, and its client would wait for ever.
      child.send(message, connection, { keepOpen: true }, (error) => {
        if (connection && !error && unsent.delete(connection)) connection.destroy();
      });
    },
    onMessage: (callback) => void child.on('message', (message) => callback(message as WorkerMessage)),
    onExit: (callback) =>
      void child.on('exit', (code, signal) =>
        callback({ isSuccess: code === 0, reason: signal ?? `exit code ${code}`, unsent: [...unsent] }),
      ),
    kill: () => void child.kill('SIGKILL'),
  };
}

function connectWorkerToPrimary(): PrimaryProcess {
  // A terminal, or a tool that ends a process group, also signals workers, which ignore it: the primary stops them.
  for (const signal of stopSignals) process.on(signal, () => undefined);
  return connectToPrimary(process);
}
