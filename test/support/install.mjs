import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Installs the packages of a folder with its own package.json and package-lock.json, unless they match the lockfile.
 * Installs them beside the folder and moves them there, so that concurrent installations do not disturb each other.
 */
export function installFolder(/** @type {string} */ folder) {
  const installed = () => textOf(join(folder, 'node_modules', '.installed-lock.json'));
  const wanted = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (installed() === wanted) return;
  console.error(`Installing the packages of ${folder} ...`);
  const temporary = mkdtempSync(join(dirname(folder), '.install-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(folder, name), join(temporary, name));
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: temporary,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    });
    copyFileSync(join(temporary, 'package-lock.json'), join(temporary, 'node_modules', '.installed-lock.json'));
    const [made, target] = [join(temporary, 'node_modules'), join(folder, 'node_modules')];
    try {
      renameSync(made, target);
    } catch {
      // Another process may have installed the packages meanwhile, and use them.
      if (installed() === wanted) return;
      // Packages of an older lockfile.
      renameSync(target, join(temporary, 'old'));
      renameSync(made, target);
    }
  } catch (error) {
    if (installed() !== wanted) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function textOf(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
