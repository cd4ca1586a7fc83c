#!/usr/bin/env node
import { run } from './cli/run.js';

// The only file that touches the process: everything below it is told what it needs to know.
// Whatever is written is for its owner, whoever writes it.
process.umask(0o077);
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(text),
  say: (text) => process.stderr.write(text),
  isWatched: process.stderr.isTTY,
  onStop: (callback) => {
    process.once('SIGTERM', callback);
    process.once('SIGINT', callback);
  },
});
