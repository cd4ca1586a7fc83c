#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { nodeOptions } from '../config/node-options.js';

// The command `keyfront`. Node takes its options at its start only, so `serve` runs in a child process that has them;
// every other command runs in this one.
const args = process.argv.slice(2);
const [first = 'serve'] = args;
if (first === 'serve' || (first.startsWith('-') && !['--help', '-h', '--version'].includes(first))) launch();
else await import('../main.js');

function launch(): void {
  // Node would open its inspector, and the environment holds secrets.
  if (process.env['NODE_ENV'] === 'production') process.on('SIGUSR1', () => undefined);
  const main = fileURLToPath(new URL('../main.js', import.meta.url));
  const child = spawn(process.execPath, [...nodeOptions, ...process.execArgv, main, '(launched)', ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  // A terminal sends SIGINT to the child too, and a second one would end it at once. The end of the channel, which is
  // also what the child sees when this process is killed, stops it like the first signal.
  process.on('SIGINT', () => {
    if (child.connected) child.disconnect();
  });
  child.on('error', (error) => {
    process.stderr.write(`Cannot start Node: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}
