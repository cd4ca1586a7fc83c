// The key service without HTTP, on SQLite or PostgreSQL.
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { importLines } from '../../build/cli/keys/import-lines.js';
import { readConfig } from '../../build/config/config.js';
import { openServices } from '../../build/storage/open-storage.js';
import { createKeyService } from '../../build/keys/key-service.js';
import { quantile } from './statistics.mjs';

export const caller = { credentialID: 'bench', label: 'bench', orgID: undefined, requestID: '' };

const keys = 1_000;

/** Opens an installation with the keys `key-0` to `key-999`, all with one definition. */
export async function openKeys(
  /** @type {string} */ data,
  /** @type {Record<string, string>} */ env,
  /** @type {object} */ definition,
) {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: data, ...env });
  const installation = await openServices(config, secrets, {}, { access: 'create' });
  const lines = Array.from({ length: keys }, (_, n) => JSON.stringify({ key_id: `key-${n}`, ...definition }));
  const options = { orgID: undefined, passwordsAreHashed: false };
  await importLines(installation, lines, options, { onInvalidLine: () => undefined, onProgress: () => undefined });
  return {
    service: createKeyService(installation.ports),
    /** Returns the identifier of the key for operation number `count`, in a permutation of all keys. */
    keyIDOf: (/** @type {number} */ count) => `key-${(count * 7919) % keys}`,
    close: () => installation.close(),
  };
}

/** Runs work with concurrent clients, each with one call at a time. Resolves to the rate and the latencies. */
export async function measure(
  /** @type {number} */ clients,
  /** @type {number} */ milliseconds,
  /** @type {() => Promise<unknown>} */ work,
) {
  /** @type {number[]} */
  const waits = [];
  const start = performance.now();
  const client = async () => {
    while (performance.now() - start < milliseconds) {
      const requested = performance.now();
      await work();
      waits.push(performance.now() - requested);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return {
    perSecond: (waits.length / (performance.now() - start)) * 1_000,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
  };
}

/** Creates an empty schema on a server, and returns the environment of a service with its tables in it. */
export async function makeSchema(/** @type {string} */ url, /** @type {string} */ schema) {
  await query(url, `CREATE SCHEMA ${schema}`);
  const own = new URL(url);
  own.searchParams.set('options', `-c search_path=${schema}`);
  return { KEYFRONT_DATABASE_URL: own.href.replaceAll('+', '%20') };
}

export function dropSchema(/** @type {string} */ url, /** @type {string} */ schema) {
  return query(url, `DROP SCHEMA ${schema} CASCADE`);
}

async function query(/** @type {string} */ url, /** @type {string} */ statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
