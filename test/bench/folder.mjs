// A data folder to begin with: the same keys and credentials for every server, each on a copy of its own.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { headlineClient } from './clients.mjs';
import { importLines } from './payload.mjs';

const main = new URL('../../dist/main.js', import.meta.url).pathname;

/** A folder in the temp folder, with a data folder made by the command line as an operator would make it. */
export function createFolder() {
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
    /** The headers of a request that may do everything. */
    headers: { ...plain, ...management, ...service },
    /**
     * The headers of one client with the one credential that the workload needs, the same for every server. Requests of
     * the REST API have the headers of curl.
     */
    headersFor: (/** @type {string} */ workload, client = headlineClient) => ({
      ...(workload.startsWith('rest') ? plain : client.headers),
      ...(/preview/.test(workload) ? management : service),
    }),
    /** A data folder of one's own. */
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

/** How many updates the history of a data folder holds. */
export function auditedUpdates(/** @type {string} */ data) {
  const database = new Database(join(data, 'keyfront.db'), { readonly: true });
  try {
    return Number(database.prepare("SELECT count(*) FROM audit WHERE operation = 'update'").pluck().get());
  } finally {
    database.close();
  }
}
