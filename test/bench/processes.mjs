// One to four processes on one PostgreSQL, loaded in turn: `node test/bench/processes.mjs`. They share all processors
// with PostgreSQL and the load, so the rate shows the loss by sharing, and the CPU time the cost of an update while
// other processes write. `--write` updates test/bench/capacity.md, and process-factors.json for the model.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadTogether, moveToServer, startService, writeToCapacity, writeWorkloads } from './fleet.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine } from './machine.mjs';
import { keyIDOf, keys, ownWorkloads } from './payload.mjs';
import { startPostgres } from './postgres.mjs';
import { spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    write: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const counts = [1, 2, 3, 4];
const warmUpSeconds = 10;
const factorsFile = new URL('process-factors.json', import.meta.url).pathname;

const consume = 'mutation ($keyID: ID!) { consumeOrgQuota(keyID: $keyID) { allowed } }';
const consumptions = Array.from({ length: keys }, (_, key) =>
  JSON.stringify({ query: consume, variables: { keyID: keyIDOf(key) } }),
);
/** @type {Record<string, { bodies: readonly string[], good: string }>} */
const workloads = {
  updates: ownWorkloads.update,
  'consumptions, any key': { bodies: consumptions, good: '"allowed":true' },
};
/** @typedef {{ perSecond: number, cpuUs: number, serverUs: number }} Figures */
/** @type {Record<string, Figures[][]>} */
const found = Object.fromEntries(Object.keys(workloads).map((name) => [name, counts.map(() => [])]));

const machine = describeMachine();
const before = loadavg()[0] ?? NaN;
const folder = createFolder();
const server = await startPostgres();
/** @type {import('./process.mjs').Running[]} */
const running = [];
let errors = 0;
let offset = 0;
try {
  writeWorkloads(folder.path, workloads);
  const data = folder.copy('on-server');
  const env = { KEYFRONT_DATABASE_URL: server.url };
  moveToServer(data, env);
  for (let index = 0; index < Math.max(...counts); index += 1) {
    const name = `process ${index}`;
    running.push(await startService(name, { data, log: join(folder.path, `${name}.log`), env }));
  }
  for (const workload of Object.keys(workloads)) await measure(workload, running, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    for (const workload of Object.keys(workloads)) {
      for (const [place, count] of counts.entries()) {
        found[workload]?.[place]?.push(await measure(workload, running.slice(0, count), Number(values.seconds)));
      }
    }
  }
  for (const one of running) await one.stop();
} finally {
  await server.stop();
  folder.remove();
}

/** Loads processes at once. The others run and receive the changes, which is not measured. */
async function measure(
  /** @type {string} */ workload,
  /** @type {readonly import('./process.mjs').Running[]} */ processes,
  /** @type {number} */ forSeconds,
) {
  const found = await loadTogether(
    processes,
    {
      headers: folder.headersFor(workload),
      bodies: join(folder.path, workload),
      good: workloads[workload]?.good ?? '',
      offset,
      connections: Number(values.connections),
      seconds: forSeconds,
    },
    server,
  );
  offset += found.responses;
  errors += found.errors;
  return found;
}

/** Returns the median over the rounds of the ratio between a figure and that of one process in the same round. */
function ratio(/** @type {string} */ workload, /** @type {number} */ place, /** @type {keyof Figures} */ figure) {
  const all = found[workload] ?? [];
  const ratios = (all[place] ?? []).map((one, round) => one[figure] / (all[0]?.[round]?.[figure] ?? NaN));
  return Math.round(spread(ratios).median * 100) / 100;
}

const lines = [
  `${machine.date}, commit ${machine.commit}, ${machine.machine}; ${rounds} rounds, load average ${before.toFixed(1)} before; ${errors} errors.`,
  '',
  `| relative to one process: rate; processor time of Keyfront, of PostgreSQL | ${counts.map((count) => `${count} ${count === 1 ? 'process' : 'processes'}`).join(' | ')} |`,
  `|---|${counts.map(() => '---|').join('')}`,
  ...Object.keys(workloads).map((workload) => {
    const cells = counts.map((_, place) => {
      const of = (/** @type {keyof Figures} */ figure) => ratio(workload, place, figure).toFixed(2);
      return `${of('perSecond')}; ${of('cpuUs')}, ${of('serverUs')}`;
    });
    return `| ${workload} | ${cells.join(' | ')} |`;
  }),
];
console.log(lines.join('\n'));
for (const [workload, all] of Object.entries(found)) console.error(workload, JSON.stringify(all));
if (values.write) {
  const factors = counts.map((processes, place) => ({
    processes,
    keyfront: ratio('updates', place, 'cpuUs'),
    postgres: ratio('updates', place, 'serverUs'),
  }));
  writeFileSync(factorsFile, `${JSON.stringify(factors, null, 2)}\n`);
  writeToCapacity('processes', lines.join('\n'));
}
if (errors > 0) process.exitCode = 1;
