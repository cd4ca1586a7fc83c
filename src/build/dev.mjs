// `npm run dev`: compiles on every change and serves from `build`. Ends with all that it has started.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bundlePages } from './pages.mjs';

const root = join(import.meta.dirname, '../..');
await bundlePages(join(root, 'build/http/browser'));

const compiler = join(root, 'node_modules/typescript/bin/tsc');
const tsc = spawn(process.execPath, [compiler, '--watch', '--preserveWatchOutput'], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
});
/** @type {import('node:child_process').ChildProcess | undefined} */
let service;
tsc.stdout.on('data', (/** @type {Buffer} */ text) => {
  process.stdout.write(text);
  // The first compilation is over: there is something to serve.
  if (service !== undefined || !text.includes('Watching for file changes')) return;
  const args = ['--watch', '--watch-preserve-output', join(root, 'build/main.js'), 'serve', ...process.argv.slice(2)];
  service = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  service.on('exit', stop);
});
tsc.on('exit', stop);
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop);

function stop() {
  service?.kill();
  tsc.kill();
}
