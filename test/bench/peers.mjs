import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const folder = new URL('peers/', import.meta.url).pathname;

/** Installs the packages that Keyfront is compared with, once. They share our copy of graphql, and so our schema. */
export function installPeers() {
  if (existsSync(`${folder}node_modules`)) return;
  console.error('Installing the servers to compare with in test/bench/peers ...');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
}
