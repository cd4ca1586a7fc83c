// The data folder of the benchmarks: every server has a copy, with the same keys and credentials.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { headlineClient } from './clients.mjs';
import { importLines } from './payload.mjs';

/** Creates a temporary folder, with a data folder that the command line of a build creates and fills. */
export function createFolder(build = 'dist') {
  const main = new URL(`../../${build}/main.js`, import.meta.url).pathname;
  const path = mkdtempSync(join(tmpdir(), 'keyfront-bench-'));
  const data = join(path, 'data');
  const keyfront = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, [main, ...args], {
      env: { PATH: process.env.PATH, KEYFRONT_DATA: data },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  writeFileSync(join(path, 'keys.jsonl'), importLines().join('\n'));
  keyfront('keys', 'import', join(path, 'keys.jsonl'));
  const issue = (/** @type {string} */ kind) => keyfront('credentials', 'issue', '--kind', kind, '--label', 'bench');
  const plain = { 'Content-Type': 'application/json', Accept: 'application/json' };
  const management = { Authorization: `Bearer ${issue('management')}` };
  const service = { 'X-Svc-Authorization': issue('service') };
  return {
    path,
    /** The headers with both credentials. */
    headers: { ...plain, ...management, ...service },
    /**
     * Returns the headers of a client, with the credential that the workload needs. Requests of the REST API have the
     * headers of curl.
     */
    headersFor: (/** @type {string} */ workload, client = headlineClient) => ({
      ...(workload.startsWith('rest') ? plain : client.headers),
      ...(/preview/.test(workload) ? management : service),
    }),
    /** Copies the data folder, and returns the path of the copy. */
    copy: (/** @type {string} */ name) => {
      const copied = join(path, name);
      cpSync(data, copied, { recursive: true });
      // The service rejects a data folder that other users can read.
      chmodSync(copied, 0o700);
      return copied;
    },
    remove: () => rmSync(path, { recursive: true }),
  };
}

/** Counts the updates in the histories of a data folder. */
export function auditedUpdates(/** @type {string} */ data) {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    return Number(database.prepare("SELECT count(*) FROM history WHERE operation = 'update'").pluck().get());
  } finally {
    database.close();
  }
}
