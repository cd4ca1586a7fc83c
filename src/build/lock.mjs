// Writes package-lock.json for the packages of package.json: `node src/build/lock.mjs` instead of `npm install`. Adds
// `gypfile: false` for the packages that have it in their package.json: npm leaves it out of the lockfile, and then `npm ci`
// runs `node-gyp rebuild` for them, which needs Python, although nothing is to be compiled.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
execFileSync('npm', ['install', '--ignore-scripts'], { cwd: root, stdio: 'inherit' });
const file = join(root, 'package-lock.json');
const lockfile = JSON.parse(readFileSync(file, 'utf8'));
for (const [path, locked] of Object.entries(lockfile.packages)) {
  const manifest = join(root, path, 'package.json');
  if (path === '' || !existsSync(manifest)) continue;
  if (JSON.parse(readFileSync(manifest, 'utf8')).gypfile === false) locked.gypfile = false;
}
writeFileSync(file, `${JSON.stringify(lockfile, null, 2)}\n`);
