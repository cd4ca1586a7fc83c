#!/usr/bin/env node
import { run } from './cli/run.js';

const stopSignals = ['SIGTERM', 'SIGINT'] as const;
/** Longer than the server takes to stop. What is not over by then never will be. */
const stopWithinMs = 10_000;
/** How long what is still open at the end is waited for, such as a collector of traces that does not answer. */
const lingerMs = 500;

// Node opens its inspector, and with it all memory, to whoever may send this signal. A handler of ours comes before it.
if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);

// The only file that touches the process: everything below it is told what it needs to know.
// Whatever is written is for its owner, whoever writes it.
process.umask(0o077);
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  say: (text) => process.stderr.write(text),
  isWatched: process.stderr.isTTY,
  onStop: (callback) => {
    const stop = () => {
      // The next signal finds Node's own handling, which ends the process at once.
      for (const signal of stopSignals) process.removeListener(signal, stop);
      callback();
    };
    for (const signal of stopSignals) process.on(signal, stop);
  },
  onFault: (callback) => {
    // Rejections that nobody handles come here too.
    process.on('uncaughtException', (fault) => {
      setTimeout(() => process.exit(1), stopWithinMs).unref();
      callback(fault);
    });
  },
  nodeOptions: [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)],
});
setTimeout(() => process.exit(), lingerMs).unref();
