// Consumptions, and updates with a reset, per second, with counters in the database and in Redis, by turns:
// npm run build && node test/bench/counters.mjs redis://… [postgres://…] [rounds] [milliseconds]
// Compare the ratios, because machines differ. Redis keeps keys that begin with bench-.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit, stdout } from 'node:process';
import { caller, dropSchema, makeSchema, measure, openKeys } from './in-process.mjs';
import { spread } from './statistics.mjs';

const [, , redis = '', ...others] = argv;
const postgres = others[0]?.startsWith('postgres') ? others.shift() : undefined;
const [rounds = 5, roundMs = 2_000] = others.map(Number);

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
    'PostgreSQL, counters beside the keys': await place('postgres', await makeSchema(postgres, `bench_${run}_a`)),
    'PostgreSQL, counters in Redis': await place('postgres-redis', {
      ...(await makeSchema(postgres, `bench_${run}_b`)),
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
          (results[`${words[what]}, ${clients} at once, ${name}`] ??= []).push(
            await measure(clients, roundMs, works[what]),
          );
        }
      }
    }
  }
} finally {
  for (const { close } of Object.values(places)) await close();
  if (postgres) for (const end of ['a', 'b']) await dropSchema(postgres, `bench_${run}_${end}`);
  rmSync(folder, { recursive: true });
}
for (const [name, found] of Object.entries(results)) {
  const median = (/** @type {'perSecond' | 'p50' | 'p99'} */ figure) =>
    Math.round(spread(found.map((one) => one[figure])).median * 100) / 100;
  stdout.write(
    `${name}: ${Math.round(median('perSecond'))} a second, p50 ${median('p50')} ms, p99 ${median('p99')} ms\n`,
  );
}

async function place(/** @type {string} */ data, /** @type {Record<string, string>} */ env) {
  const definition = { org_id: 'acme', quota_max: 1e15, quota_renewal_rate: 86_400 };
  const { service, keyIDOf, close } = await openKeys(join(folder, data), env, definition);
  let count = 0;
  const next = () => keyIDOf((count += 1));
  return {
    consume: () => service.consumeOrgQuota(caller, { keyID: next(), amount: 1n }),
    consumeOne: () => service.consumeOrgQuota(caller, { keyID: 'key-0', amount: 1n }),
    reset: () =>
      service.updateOrgKey(caller, {
        keyID: next(),
        input: { alias: `Key ${count}`, quotaMax: 1_000_000_000_000_000n, quotaRenewalRate: 86_400n },
        resetQuota: true,
      }),
    close,
  };
}
