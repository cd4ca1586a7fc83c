#!/usr/bin/env node
import { createOutput } from './cli/output.js';
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
const say = (text: string) => void process.stderr.write(text);
// Where nobody reads what is said, there is nobody to tell.
process.stderr.on('error', () => undefined);
const output = createOutput(process.stdout, say);
const code = await run(process.argv.slice(2), {
  env: process.env,
  out: output.out,
  drained: output.drained,
  say,
  // Only a command that reads it should open it.
  get input() {
    return process.stdin;
  },
  isWatched: process.stderr.isTTY,
  isTerminal: process.stdout.isTTY,
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
const lost = await output.end();
process.exitCode = lost === 0 ? code : lost;
setTimeout(() => process.exit(), lingerMs).unref();
