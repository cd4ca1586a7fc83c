// Updates a second on each engine, in one run and by turns: npm run build && node test/bench/stores.mjs postgres://…
// The server should have fsync on; an empty schema of it is made and dropped. Machines differ, so read the ratios.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit, stdout } from 'node:process';
import { caller, dropSchema, makeSchema, measure, openKeys } from './in-process.mjs';
import { spread } from './statistics.mjs';

const [, , url = ''] = argv;
const rounds = Number(argv[3] ?? 5);
const roundMs = Number(argv[4] ?? 2_000);
const definition = (/** @type {number} */ n) => ({
  alias: `Key ${n}`,
  rate: 100 + (n % 100),
  per: 60,
  quotaMax: 20_000n,
  quotaRenewalRate: 86_400n,
  tags: ['billing', 'production'],
  metaData: { notes: 'x'.repeat(500) },
});

if (url === '') {
  stdout.write('Usage: node test/bench/stores.mjs postgres://user@host/database [rounds] [milliseconds]\n');
  exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'keyfront-stores-'));
const schema = `bench_${randomUUID().replaceAll('-', '')}`;
const inSchema = await makeSchema(url, schema);

/** @type {Record<string, Awaited<ReturnType<typeof engine>>>} */
const engines = {
  SQLite: await engine(join(folder, 'sqlite'), {}),
  PostgreSQL: await engine(join(folder, 'postgres'), inSchema),
};
/** @type {Record<string, { perSecond: number, p50: number, p99: number, cpu: number }[]>} */
const results = {};
try {
  for (let round = 0; round < rounds; round += 1) {
    for (const clients of [1, 64]) {
      for (const [name, { update }] of Object.entries(engines)) {
        (results[`${name}, ${clients} at once`] ??= []).push(await measure(clients, roundMs, update));
      }
    }
  }
} finally {
  for (const { close } of Object.values(engines)) await close();
  await dropSchema(url, schema);
  rmSync(folder, { recursive: true });
}
for (const [name, found] of Object.entries(results)) {
  const median = (/** @type {'perSecond' | 'p50' | 'p99' | 'cpu'} */ figure) =>
    Math.round(spread(found.map((one) => one[figure])).median * 100) / 100;
  stdout.write(
    `${name}: ${Math.round(median('perSecond'))} updates a second, p50 ${median('p50')} ms, p99 ${median('p99')} ms, ${median('cpu')} us of CPU each\n`,
  );
}

/** A store with keys in it, behind the rules that the service has. */
async function engine(/** @type {string} */ data, /** @type {Record<string, string>} */ env) {
  const { service, keyIDOf, close } = await openKeys(data, env, { org_id: 'acme' });
  let count = 0;
  return {
    update: () => {
      count += 1;
      const request = { keyID: keyIDOf(count), input: definition(count), resetQuota: true };
      return service.updateOrgKey(caller, request);
    },
    close,
  };
}
