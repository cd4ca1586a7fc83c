// Updates a second on each engine, in one run and by turns: npm run build && node test/bench/stores.mjs postgres://…
// The server should have fsync on; an empty schema of it is made and dropped. Machines differ, so read the ratios.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { argv, cpuUsage, exit, stdout } from 'node:process';
import pg from 'pg';
import { importLines } from '../../build/cli/import-keys.js';
import { readConfig } from '../../build/config.js';
import { openInstallation } from '../../build/installation.js';
import { createKeyService } from '../../build/keys/service.js';
import { spread } from './statistics.mjs';

const [, , url = ''] = argv;
const keys = 1_000;
const rounds = Number(argv[3] ?? 5);
const roundMs = Number(argv[4] ?? 2_000);
const caller = { credentialID: 'bench', label: 'bench', orgID: undefined, requestID: '' };
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
const own = new URL(url);
own.searchParams.set('options', `-c search_path=${schema}`);
await query(`CREATE SCHEMA ${schema}`);

/** @type {Record<string, Awaited<ReturnType<typeof engine>>>} */
const engines = {
  SQLite: await engine(join(folder, 'sqlite'), {}),
  PostgreSQL: await engine(join(folder, 'postgres'), { KEYFRONT_DATABASE_URL: own.href.replaceAll('+', '%20') }),
};
/** @type {Record<string, { perSecond: number, p50: number, p99: number, cpu: number }[]>} */
const results = {};
try {
  for (let round = 0; round < rounds; round += 1) {
    for (const clients of [1, 64]) {
      for (const [name, { update }] of Object.entries(engines)) {
        (results[`${name}, ${clients} at once`] ??= []).push(await measure(clients, update));
      }
    }
  }
} finally {
  for (const { close } of Object.values(engines)) await close();
  await query(`DROP SCHEMA ${schema} CASCADE`);
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
  const { config, secrets } = readConfig({ KEYFRONT_DATA: data, ...env });
  const installation = await openInstallation(config, secrets);
  const lines = Array.from({ length: keys }, (_, n) => JSON.stringify({ key_id: `key-${n}`, org_id: 'acme' }));
  const options = { orgID: undefined, passwordsAreHashed: false };
  await importLines(installation, lines, options, { onBadLine: () => undefined, onProgress: () => undefined });
  const service = createKeyService(installation.ports);
  let count = 0;
  return {
    update: () => {
      count += 1;
      const keyID = `key-${(count * 7919) % keys}`;
      return service.updateOrgKey(caller, { keyID, input: definition(count), resetQuota: true });
    },
    close: () => installation.close(),
  };
}

async function measure(/** @type {number} */ clients, /** @type {() => Promise<unknown>} */ update) {
  /** @type {number[]} */
  const waits = [];
  const start = performance.now();
  const cpu = cpuUsage();
  const client = async () => {
    while (performance.now() - start < roundMs) {
      const asked = performance.now();
      await update();
      waits.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const { user, system } = cpuUsage(cpu);
  waits.sort((a, b) => a - b);
  return {
    perSecond: (waits.length / (performance.now() - start)) * 1_000,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    cpu: (user + system) / waits.length,
  };
}

async function query(/** @type {string} */ statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
