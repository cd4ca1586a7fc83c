// The capacity of one process on SQLite, and of one and two on PostgreSQL, and that of more processes by a model:
// `node test/bench/capacity.mjs`. Prints the figures of test/bench/capacity.md; `--write` also updates them there.
import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { measuredFactors, modelLines } from './capacity-model.mjs';
import { quantile, spread } from './statistics.mjs';
import { syncTime } from './sync-time.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    'skip-build': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
if (!values['skip-build']) execFileSync('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
// These modules import the build.
const { loadTogether, moveToServer, startService, writeToCapacity, writeWorkloads } = await import('./fleet.mjs');
const { createFolder } = await import('./folder.mjs');
const { describeMachine } = await import('./machine.mjs');
const { keyIDOf, keys, ownWorkloads } = await import('./payload.mjs');
const { startPostgres } = await import('./postgres.mjs');
const { processors } = await import('./process.mjs');

const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);

const body = (/** @type {string} */ query, /** @type {object} */ variables) => JSON.stringify({ query, variables });
const consume = 'mutation ($keyID: ID!) { consumeOrgQuota(keyID: $keyID) { allowed } }';
const read =
  'query ($keyID: ID!) { orgKey(by: { keyID: $keyID }) { keyHash version definition { alias rate per quotaMax tags } } }';
const all = Array.from({ length: keys }, (_, key) => keyIDOf(key));
const update = ownWorkloads.update;
/** @type {Record<string, { bodies: readonly string[], good: string, connections: number }>} */
const workloads = {
  previews: { ...ownWorkloads.preview, connections },
  'reads of a key': { bodies: all.map((keyID) => body(read, { keyID })), good: '"keyHash":"', connections },
  updates: { ...update, connections },
  'updates, one client a process': { ...update, connections: 1 },
  'consumptions, any key': {
    bodies: all.map((keyID) => body(consume, { keyID })),
    good: '"allowed":true',
    connections,
  },
  'consumptions, one key': { bodies: [body(consume, { keyID: keyIDOf(0) })], good: '"allowed":true', connections },
};

const machine = describeMachine();
const folder = createFolder();
const server = await startPostgres();
/** @typedef {{ perSecond: number, p50Ms: number, p99Ms: number, errors: number, firstError: string, cpuUs: number, serverUs: number, walBytes: number }} Figures */
/** @type {Record<string, Record<string, Figures[]>>} */
const found = {};
let syncUs = NaN;
let roundTripUs = NaN;
try {
  writeWorkloads(folder.path, workloads);
  syncUs = syncTime(join(server.folder, 'sync'));
  roundTripUs = await roundTripTime();
  const onServer = folder.copy('on-server');
  const env = { KEYFRONT_DATABASE_URL: server.url };
  moveToServer(onServer, env);
  await measure('SQLite, 1 process', [{ data: folder.copy('sqlite'), env: {} }]);
  await measure('PostgreSQL, 1 process', [{ data: onServer, env }]);
  await measure('PostgreSQL, 2 processes', [
    { data: onServer, env },
    { data: onServer, env },
  ]);
  const [entry] = await query(`SELECT pg_total_relation_size('history')::float8 / count(*) AS bytes FROM history`);
  print(entry.bytes);
} finally {
  await server.stop();
  folder.remove();
}

/** Starts processes, loads them with each workload in turn, and stops them. */
async function measure(
  /** @type {string} */ name,
  /** @type {readonly { data: string, env: Record<string, string> }[]} */ processes,
) {
  // One process has its own processor. Two share all processors with PostgreSQL and the load.
  const cpus = processes.length === 1 ? processors : undefined;
  server.pin(processors && (cpus?.load ?? `0-${availableParallelism() - 1}`));
  const running = [];
  for (const [index, { data, env }] of processes.entries()) {
    const log = join(folder.path, `${name} ${index}.log`);
    running.push(await startService(name, { data, log, env, cpus: cpus?.server }));
  }
  let offset = 0;
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [workload, { good, connections: all }] of Object.entries(workloads)) {
      const walBefore = await wal();
      const job = { headers: folder.headersFor(workload), bodies: join(folder.path, workload), good, seconds };
      const figures = await loadTogether(running, { ...job, offset, connections: all, cpus: cpus?.load }, server);
      offset += figures.responses;
      if (round === 0) continue;
      const walBytes = ((await wal()) - walBefore) / figures.responses;
      ((found[name] ??= {})[workload] ??= []).push({ ...figures, walBytes });
    }
  }
  for (const one of running) await one.stop();
}

/** Returns the median of a figure over the rounds. */
function median(/** @type {string} */ where, /** @type {string} */ workload, /** @type {keyof Figures} */ figure) {
  const rows = found[where]?.[workload] ?? [];
  return spread(rows.map((row) => Number(row[figure]))).median;
}

function print(/** @type {number} */ entryBytes) {
  /** @type {string[]} */
  const lines = [];
  const write = (/** @type {string} */ line = '') => void lines.push(line);
  const places = Object.keys(found);
  write(
    `${machine.date}, commit ${machine.commit}, ${machine.machine}; load average ${machine.loadAverage.toFixed(1)} before.`,
  );
  write(
    `A wait for this disk: ${(syncUs / 1000).toFixed(2)} ms. To PostgreSQL and back: ${(roundTripUs / 1000).toFixed(2)} ms.`,
  );
  write();
  write(`| a second, p50 ms | ${places.join(' | ')} |`);
  write(`|---|${places.map(() => '---|').join('')}`);
  for (const workload of Object.keys(workloads)) {
    const cells = places.map((place) => {
      const rate = Math.round(median(place, workload, 'perSecond'));
      const clients = workload.endsWith('a process') && place.endsWith('2 processes') ? ' (two clients)' : '';
      return `${rate}, ${median(place, workload, 'p50Ms').toFixed(1)}${clients}`;
    });
    write(`| ${workload} | ${cells.join(' | ')} |`);
  }
  write();
  write(`| processor time each, µs: Keyfront + PostgreSQL | ${places.join(' | ')} |`);
  write(`|---|${places.map(() => '---|').join('')}`);
  for (const workload of Object.keys(workloads)) {
    const cells = places.map(
      (place) =>
        `${Math.round(median(place, workload, 'cpuUs'))}${place.startsWith('SQLite') ? '' : ` + ${Math.round(median(place, workload, 'serverUs'))}`}`,
    );
    write(`| ${workload} | ${cells.join(' | ')} |`);
  }
  write();

  const one = 'PostgreSQL, 1 process';
  const alone = median(one, 'updates, one client a process', 'serverUs');
  const among = median(one, 'updates', 'serverUs');
  // Under load, a group has the updates that arrived during earlier groups. Its fixed cost is that of a lone update.
  const row = among * 0.9;
  const costs = {
    process: median(one, 'updates', 'cpuUs'),
    group: Math.max(alone - row, 100),
    row,
    sync: syncUs,
    roundTrip: roundTripUs,
  };
  for (const line of modelLines(costs, measuredFactors())) write(line);
  const perDay = (/** @type {number} */ bytes) => ((bytes * 86_400) / 2 ** 30).toFixed(0);
  const walBytes = median(one, 'updates', 'walBytes');
  write(
    `An entry of history takes ${Math.round(entryBytes)} bytes on disk, and an update ${Math.round(walBytes)} of the log: 100 a second all day long are ${perDay(100 * entryBytes)} GiB of history and ${perDay(100 * walBytes)} GiB of log.`,
  );
  const figures = lines.join('\n');
  console.log(figures);
  if (values.write) writeToCapacity('capacity', figures);
  const errors = places.flatMap((place) =>
    Object.keys(workloads).flatMap((workload) =>
      (found[place]?.[workload] ?? [])
        .filter((row) => row.errors > 0)
        .map((row) => `${place}, ${workload}: ${row.errors} errors, ${row.firstError}`),
    ),
  );
  for (const error of errors) console.error(error);
  if (errors.length > 0) process.exitCode = 1;
}

/** Returns the round-trip time to the server in microseconds. */
async function roundTripTime() {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const times = [];
  for (let count = 0; count < 300; count += 1) {
    const begin = performance.now();
    await client.query({ name: 'trip', text: 'SELECT 1' });
    times.push((performance.now() - begin) * 1000);
  }
  await client.end();
  return quantile(times, 0.5);
}

async function wal() {
  const [row] = await query(`SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes`);
  return row.bytes;
}

async function query(/** @type {string} */ statement) {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}
