// Requests that a gateway asks about, each in a request of its own: with a quota in comparison with consumption of another
// build, and without a quota in comparison with node:http in front of the core. Several rounds by turns, on one
// processor, then the waits at half of the rate. `npm run build` first:
// node test/bench/gateway.mjs --old ../old/dist [--rounds 5] [--seconds 3] [--only consumption]
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { nodeOptions } from '../../build/config/node-options.js';
import { sendLoad } from './fleet.mjs';
import { describeMachine } from './machine.mjs';
import { node, processors, startServer } from './process.mjs';
import { quantile } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    old: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    half: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});
const keys = 1_000;
const keyIDOf = (/** @type {string} */ kind, /** @type {number} */ n) => `${kind}-${String(n).padStart(4, '0')}`;
const root = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'keyfront-bench-gateway-'));
const definition = {
  org_id: 'bench',
  alias: 'Customer, production',
  rate: 100,
  per: 60,
  tags: ['production'],
  access_rights: { invoices: { api_id: 'invoices', allowed_urls: [{ url: '/invoices/\\d+', methods: ['GET'] }] } },
};
const lines = Array.from({ length: keys }, (_, n) => [
  { key_id: keyIDOf('limited', n), ...definition, quota_max: 1e12, quota_renewal_rate: 2_592_000 },
  { key_id: keyIDOf('free', n), ...definition },
]).flat();
writeFileSync(join(folder, 'keys.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));

/** Creates a data folder with the keys, and a credential for it. */
function prepare(/** @type {string} */ build) {
  const data = join(folder, build.replaceAll('/', '_'));
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, [join(root, build, 'main.js'), ...args], {
      env: { PATH: process.env.PATH, KEYFRONT_DATA: data },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  run('keys', 'import', join(folder, 'keys.jsonl'));
  const secret = /kf_svc_\w+/.exec(run('credentials', 'issue', '--kind', 'service', '--label', 'bench'))?.[0] ?? '';
  return { data, headers: { 'Content-Type': 'application/json', 'X-Svc-Authorization': secret } };
}

const verify =
  (/** @type {string} */ kind, each = 1) =>
  (/** @type {number} */ n) => ({
    method: 'POST',
    path: '/svc/keys/verify',
    body: JSON.stringify({
      requests: Array.from({ length: each }, (_, index) => ({
        key_id: keyIDOf(kind, (n + index) % keys),
        api: 'invoices',
        method: 'GET',
        path: `/invoices/${n}`,
      })),
    }),
  });
const consume = (/** @type {number} */ n) => ({
  method: 'POST',
  path: `/svc/org/keys/${keyIDOf('limited', n)}/quota`,
  body: '{"amount":1}',
});
const authz = (/** @type {number} */ n) => ({
  method: 'GET',
  path: `/authz/envoy/api=invoices&key=query:key/invoices/${n}?key=${keyIDOf('limited', n)}`,
  body: '',
});
const allowed = '"allowed":true';
const dist = 'dist/main.js';
/** @type {Record<string, { build: string, script: string, request: (n: number) => object, good: string }>} */
const entrants = {
  ...(values.old && {
    'consumption, old build': {
      build: values.old,
      script: `../../${values.old}/main.js`,
      request: consume,
      good: allowed,
    },
  }),
  consumption: { build: 'dist', script: `../../${dist}`, request: consume, good: allowed },
  'verify with a quota': { build: 'dist', script: `../../${dist}`, request: verify('limited'), good: allowed },
  'verify with a quota, 10 at once': {
    build: 'dist',
    script: `../../${dist}`,
    request: verify('limited', 10),
    good: allowed,
  },
  '/authz with a quota': { build: 'dist', script: `../../${dist}`, request: authz, good: '' },
  'verify without a quota': { build: 'dist', script: `../../${dist}`, request: verify('free'), good: allowed },
  'node:http without a quota': { build: 'dist', script: 'servers/verify.mjs', request: verify('free'), good: allowed },
};
for (const name of Object.keys(entrants)) if (!name.includes(values.only)) delete entrants[name];
const prepared = new Map(
  [...new Set(Object.values(entrants).map(({ build }) => build))].map((one) => [one, prepare(one)]),
);

/** @type {Record<string, { perSecond: number, cpuUs: number, p50: number, p99: number }[]>} */
const found = {};
/** @type {Record<string, { p50: number, p99: number, perSecond: number }[]>} */
const half = {};
try {
  for (const [name, { request }] of Object.entries(entrants)) {
    writeFileSync(fileOf(name), JSON.stringify(Array.from({ length: keys }, (_, n) => request((n * 7) % keys))));
  }
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const name of Object.keys(entrants)) (found[name] ??= []).push(await measure(name, round));
  }
} finally {
  rmSync(folder, { recursive: true });
}

const median = (/** @type {readonly number[]} */ figures) =>
  quantile(
    [...figures].sort((a, b) => a - b),
    0.5,
  );
console.log(describeMachine());
console.log(
  '\n| | requests/s | range | µs of CPU | p50 ms | p99 ms | half load: requests/s | p50 ms | p99 ms (range) |',
);
console.log('|---|---|---|---|---|---|---|---|---|');
for (const [name, rounds] of Object.entries(found)) {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const slow = half[name] ?? [];
  const p99s = slow.map(({ p99 }) => p99);
  const cells = [
    name,
    median(rates).toFixed(0),
    `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}`,
    median(rounds.map(({ cpuUs }) => cpuUs)).toFixed(0),
    median(rounds.map(({ p50 }) => p50)).toFixed(1),
    median(rounds.map(({ p99 }) => p99)).toFixed(1),
    ...(slow.length > 0
      ? [
          median(slow.map(({ perSecond }) => perSecond)).toFixed(0),
          median(slow.map(({ p50 }) => p50)).toFixed(2),
          `${median(p99s).toFixed(1)} (${Math.min(...p99s).toFixed(1)} to ${Math.max(...p99s).toFixed(1)})`,
        ]
      : ['', '', '']),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

function fileOf(/** @type {string} */ name) {
  return join(folder, name.replaceAll(/\W/g, '_'));
}

async function measure(/** @type {string} */ name, /** @type {number} */ round) {
  const { build, script, good } = /** @type {typeof entrants[string]} */ (entrants[name]);
  const { data, headers } = /** @type {ReturnType<typeof prepare>} */ (prepared.get(build));
  const copy = `${fileOf(name)}-${round}`;
  cpSync(data, copy, { recursive: true });
  chmodSync(copy, 0o700);
  const server = { name, label: name, script, args: script.startsWith('servers') ? [] : ['serve'], workloads: [] };
  const service = await startServer(server, {
    data: copy,
    log: `${copy}.log`,
    flags: [...nodeOptions],
    cpus: processors?.server,
  });
  try {
    const job = { url: service.url, headers, bodies: fileOf(name), good };
    const connections = Number(values.connections);
    await sendLoad({ ...job, offset: 0, connections, seconds: 2 }, processors?.load);
    const beforeUs = service.cpuUs();
    const closed = await sendLoad(
      { ...job, offset: 101, connections, seconds: Number(values.seconds) },
      processors?.load,
    );
    if (closed.errors > 0) throw new Error(`${name}: ${closed.firstError}`);
    const cpuUs = (service.cpuUs() - beforeUs) / closed.good;
    if (values.half) (half[name] ??= []).push(await sendHalf(job, closed.perSecond / 2));
    return { perSecond: closed.perSecond, cpuUs, p50: closed.p50Ms, p99: closed.p99Ms };
  } finally {
    await service.stop();
    rmSync(copy, { recursive: true });
  }
}

/** Sends requests at a fixed rate, however long the responses take. */
async function sendHalf(/** @type {object} */ job, /** @type {number} */ perSecond) {
  const open = new URL('open-load.mjs', import.meta.url).pathname;
  const child = node(processors?.load, [open], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify({ ...job, offset: 7, perSecond, seconds: Number(values.seconds) }));
  const { accepted, other, firstOther, ...figures } = /** @type {any} */ (
    await json(/** @type {any} */ (child.stdout))
  );
  if (other > 0) throw new Error(firstOther);
  return { perSecond, p50: accepted?.p50Ms ?? figures.p50Ms, p99: accepted?.p99Ms ?? figures.p99Ms };
}
