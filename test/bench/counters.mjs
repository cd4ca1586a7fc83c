// Consumptions and updates with a reset, a second, with counters beside the keys and in Redis, in one run and by turns:
// npm run build && node test/bench/counters.mjs redis://… [postgres://…] [rounds] [milliseconds]
// Machines differ, so read the ratios. What is left in Redis are keys that begin with bench-.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { argv, exit, stdout } from 'node:process';
import pg from 'pg';
import { importLines } from '../../build/cli/import-keys.js';
import { readConfig } from '../../build/config.js';
import { openInstallation } from '../../build/installation.js';
import { createKeyService } from '../../build/keys/service.js';
import { spread } from './statistics.mjs';

const [, , redis = '', ...others] = argv;
const postgres = others[0]?.startsWith('postgres') ? others.shift() : undefined;
const [rounds = 5, roundMs = 2_000] = others.map(Number);
const keys = 1_000;
const caller = { credentialID: 'bench', label: 'bench', orgID: undefined, requestID: '' };

if (!redis.startsWith('redis')) {
  stdout.write(
    'Usage: node test/bench/counters.mjs redis://host [postgres://user@host/database] [rounds] [milliseconds]\n',
  );
  exit(2);
}
const words = {
  consume: 'Consumption of many keys',
  consumeOne: 'Consumption of one key',
  reset: 'Updates with a reset',
};
const run = randomUUID().replaceAll('-', '');
const folder = mkdtempSync(join(tmpdir(), 'keyfront-counters-'));
const inRedis = { KEYFRONT_QUOTA_URL: redis, KEYFRONT_QUOTA_KEYS: `bench-${run}:{keyHash}` };
/** @type {Record<string, Awaited<ReturnType<typeof place>>>} */
const places = {
  'SQLite, counters beside the keys': await place('sqlite', {}),
  'SQLite, counters in Redis': await place('sqlite-redis', inRedis),
  ...(postgres && {
    'PostgreSQL, counters beside the keys': await place('postgres', await schemaOf(postgres, `bench_${run}_a`)),
    'PostgreSQL, counters in Redis': await place('postgres-redis', {
      ...(await schemaOf(postgres, `bench_${run}_b`)),
      ...inRedis,
    }),
  }),
};
/** @type {Record<string, { perSecond: number, p50: number, p99: number }[]>} */
const results = {};
try {
  for (let round = 0; round < rounds; round += 1) {
    for (const clients of [1, 64]) {
      for (const what of /** @type {const} */ (['consume', 'consumeOne', 'reset'])) {
        for (const [name, works] of Object.entries(places)) {
          (results[`${words[what]}, ${clients} at once, ${name}`] ??= []).push(await measure(clients, works[what]));
        }
      }
    }
  }
} finally {
  for (const { close } of Object.values(places)) await close();
  if (postgres) for (const end of ['a', 'b']) await query(postgres, `DROP SCHEMA bench_${run}_${end} CASCADE`);
  rmSync(folder, { recursive: true });
}
for (const [name, found] of Object.entries(results)) {
  const median = (/** @type {'perSecond' | 'p50' | 'p99'} */ figure) =>
    Math.round(spread(found.map((one) => one[figure])).median * 100) / 100;
  stdout.write(
    `${name}: ${Math.round(median('perSecond'))} a second, p50 ${median('p50')} ms, p99 ${median('p99')} ms\n`,
  );
}

/** Keys behind the rules that the service has. */
async function place(/** @type {string} */ data, /** @type {Record<string, string>} */ env) {
  const { config, secrets } = readConfig({ KEYFRONT_DATA: join(folder, data), ...env });
  const installation = await openInstallation(config, secrets);
  const lines = Array.from({ length: keys }, (_, n) =>
    JSON.stringify({ key_id: `key-${n}`, org_id: 'acme', quota_max: 1e15, quota_renewal_rate: 86_400 }),
  );
  const options = { orgID: undefined, passwordsAreHashed: false };
  await importLines(installation, lines, options, { onBadLine: () => undefined, onProgress: () => undefined });
  const service = createKeyService(installation.ports);
  let count = 0;
  const next = () => `key-${((count += 1) * 7919) % keys}`;
  return {
    consume: () => service.consumeOrgQuota(caller, next(), 1n),
    consumeOne: () => service.consumeOrgQuota(caller, 'key-0', 1n),
    reset: () =>
      service.updateOrgKey(caller, {
        keyID: next(),
        input: { alias: `Key ${count}`, quotaMax: 1_000_000_000_000_000n, quotaRenewalRate: 86_400n },
        resetQuota: true,
      }),
    close: () => installation.close(),
  };
}

async function measure(/** @type {number} */ clients, /** @type {() => Promise<unknown>} */ work) {
  /** @type {number[]} */
  const waits = [];
  const start = performance.now();
  const client = async () => {
    while (performance.now() - start < roundMs) {
      const asked = performance.now();
      await work();
      waits.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  waits.sort((a, b) => a - b);
  return {
    perSecond: (waits.length / (performance.now() - start)) * 1_000,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
  };
}

async function schemaOf(/** @type {string} */ url, /** @type {string} */ schema) {
  await query(url, `CREATE SCHEMA ${schema}`);
  const own = new URL(url);
  own.searchParams.set('options', `-c search_path=${schema}`);
  return { KEYFRONT_DATABASE_URL: own.href.replaceAll('+', '%20') };
}

async function query(/** @type {string} */ url, /** @type {string} */ statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
