import type { Database } from 'better-sqlite3';
import type { CredentialRow } from '../records/credential.js';
import type { CredentialCache } from '../sql/credential-store.js';

const maxRows = 1_000;

/**
 * Reading a credential and verifying its signature costs ten times as much as reading `data_version`, which changes
 * when another connection writes, and is read once per iteration of the event loop. Only active credentials are cached:
 * response times must not show which other hashes exist.
 */
export function createCredentialCache(database: Database): CredentialCache {
  const dataVersion = database.prepare<[], bigint>('PRAGMA data_version').pluck().safeIntegers();
  const rows = new Map<string, CredentialRow>();
  let version: bigint | undefined;
  let isVersionCurrent = false;
  let generation = 0;
  const nameOf = (secretHash: Uint8Array) => Buffer.from(secretHash).toString('latin1');

  function clear(): void {
    rows.clear();
    generation += 1;
  }

  function clearIfChanged(): void {
    if (isVersionCurrent) return;
    isVersionCurrent = true;
    setImmediate(() => {
      isVersionCurrent = false;
    });
    const current = readVersion();
    if (current === undefined || current !== version) clear();
    version = current;
  }

  /** Undefined when it cannot be read: the look-up in the database then reports why, or succeeds. */
  function readVersion(): bigint | undefined {
    try {
      return dataVersion.get();
    } catch {
      return undefined;
    }
  }

  return {
    find(secretHash, now) {
      clearIfChanged();
      const row = rows.get(nameOf(secretHash));
      return row && (row.expires === null || row.expires > now) ? row : undefined;
    },
    generation: () => generation,
    add(row, readIn) {
      if (readIn !== generation) return;
      if (rows.size >= maxRows) rows.clear();
      rows.set(nameOf(row.secret_hash), row);
    },
    clear,
  };
}
