// Runs after `npm ci` in a clone: installs a Node if the machine's is too old, and builds.
import { execFileSync, execSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adviceFor, isSupported, nodePackageFor, thisHost } from './pinned-node.mjs';

// Not import.meta.dirname, which old versions of Node lack.
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const isWindows = process.platform === 'win32';
/** Programs of this folder come first in PATH of npm's scripts. */
const programs = join(root, 'node_modules/.bin');

/** Puts the Node of `node/package-lock.json` into the folder of programs. */
function installNode() {
  const host = thisHost();
  const { packages } = JSON.parse(readFileSync(join(here, 'node/package-lock.json'), 'utf8'));
  const name = nodePackageFor(host, packages);
  const npm = process.env['npm_execpath'];
  if (name === undefined) {
    console.error(adviceFor(process.versions.node, host));
    process.exit(1);
  }
  if (npm === undefined) throw new Error('Run this script with npm: npm run prepare');
  const folder = mkdtempSync(join(root, 'node_modules/.node-'));
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(here, 'node', file), join(folder, file));
    // The call of npm that runs this script may have left optional packages out.
    const options = [
      '--prefix',
      folder,
      '--include=optional',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    execFileSync(process.execPath, [npm, 'ci', ...options], { cwd: folder, stdio: ['ignore', 2, 2] });
    mkdirSync(programs, { recursive: true });
    const file = isWindows ? 'node.exe' : 'node';
    renameSync(join(folder, 'node_modules', name, 'bin', file), join(programs, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (!isSupported(process.versions.node)) installNode();
// The shell of Windows has no `exec`, with which `npm start` makes the service get the signals that npm gets.
if (isWindows) writeFileSync(join(programs, 'exec.cmd'), '@%*\r\n');
// Except for `npx keyfront` in the clone, which runs this script to link the command that `npm ci` has built: a build would
// replace the files that a service is running from.
const isBuilt = existsSync(join(root, 'dist/bin/keyfront.js'));
if (process.env['npm_command'] !== 'exec' || !isBuilt) execSync('npm run build', { cwd: root, stdio: 'inherit' });
