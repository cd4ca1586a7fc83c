#!/usr/bin/env node
import { launch, supportedNode } from './launch.js';

// The command `keyfront`. Node takes its options at its start only, so `serve` runs in a child process that has them, and
// every command does if this Node is too old; otherwise the command runs in this process.
const args = process.argv.slice(2);
const node = supportedNode();
if (args[0] === 'serve' || node !== process.execPath)
  await launch(node, new URL('../main.js', import.meta.url).href, args);
else await import('../main.js');
