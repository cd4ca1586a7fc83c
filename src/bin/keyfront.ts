#!/usr/bin/env node
import { launch, requireSupportedNode } from './launch.js';

// The command `keyfront`. Node takes its options at its start only, so `serve` runs in a child process that has them;
// every other command runs in this process.
requireSupportedNode();
const args = process.argv.slice(2);
if (args[0] === 'serve') await launch(new URL('../main.js', import.meta.url).href, args);
else await import('../main.js');
