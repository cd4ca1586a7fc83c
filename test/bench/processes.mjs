// One to four processes on one PostgreSQL, loaded in turn: `node test/bench/processes.mjs`. They share all processors
// with PostgreSQL and the load, so that a rate shows how much is lost by sharing, and the processor time what an update
// costs when others write. With `--write`, the figures go to OPERATING.md, and to process-factors.json for the model.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { createFolder } from './folder.mjs';
import { describeMachine } from './machine.mjs';
import { keyIDOf, keys, ownWorkloads } from './payload.mjs';
import { startPostgres } from './postgres.mjs';
import { node, startServer } from './process.mjs';
import { spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    write: { type: 'boolean', default: false },
  },
});
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number);
const counts = [1, 2, 3, 4];
const warmUpSeconds = 10;
const load = new URL('load.mjs', import.meta.url).pathname;
const main = new URL('../../dist/main.js', import.meta.url).pathname;
const operating = new URL('../../OPERATING.md', import.meta.url).pathname;
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
  for (const [name, { bodies }] of Object.entries(workloads))
    writeFileSync(join(folder.path, name), JSON.stringify(bodies));
  const data = folder.copy('on-server');
  const env = { KEYFRONT_DATABASE_URL: server.url };
  execFileSync(process.execPath, [main, 'migrate-store'], {
    env: { PATH: process.env.PATH, KEYFRONT_DATA: data, ...env },
    stdio: 'ignore',
  });
  for (let index = 0; index < Math.max(...counts); index += 1) {
    const name = `process ${index}`;
    running.push(
      await startServer(
        { name, label: name, script: '../../dist/main.js', args: ['serve'], workloads: [], env },
        { data, log: join(folder.path, `${name}.log`), flags: ['--max-semi-space-size=64'], cpus: undefined },
      ),
    );
  }
  for (const workload of Object.keys(workloads)) await measure(workload, running, warmUpSeconds);
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const workload of Object.keys(workloads)) {
      for (const [place, count] of counts.entries()) {
        found[workload]?.[place]?.push(await measure(workload, running.slice(0, count), Number(seconds)));
      }
    }
  }
  for (const one of running) await one.stop();
} finally {
  await server.stop();
  folder.remove();
}

/** Loads these processes together. The others run and follow the changes, which is not counted. */
async function measure(
  /** @type {string} */ workload,
  /** @type {readonly import('./process.mjs').Running[]} */ processes,
  /** @type {number} */ forSeconds,
) {
  const cpu = () => processes.reduce((sum, one) => sum + one.cpuUs(), 0);
  const begin = { cpu: cpu(), server: server.cpuUs() };
  const results = await Promise.all(
    processes.map(async ({ url }, index) => {
      const child = node(undefined, [load], { stdio: ['pipe', 'pipe', 'inherit'] });
      const file = { bodies: join(folder.path, workload), good: workloads[workload]?.good };
      const clients = Math.floor(Number(connections) / processes.length);
      const own = { offset: offset + index * 400, connections: clients, seconds: forSeconds };
      child.stdin?.end(JSON.stringify({ url, headers: folder.headersFor(workload), ...file, ...own }));
      return /** @type {any} */ (await json(/** @type {any} */ (child.stdout)));
    }),
  );
  const responses = results.reduce((sum, one) => sum + one.good + one.errors, 0);
  offset += responses;
  errors += results.reduce((sum, one) => sum + one.errors + one.broken, 0);
  return {
    perSecond: results.reduce((sum, one) => sum + one.perSecond, 0),
    cpuUs: (cpu() - begin.cpu) / responses,
    serverUs: (server.cpuUs() - begin.server) / responses,
  };
}

/** The median over the rounds of a figure relative to that of one process in the same round. */
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
  const text = readFileSync(operating, 'utf8');
  const block = (/** @type {string} */ _, /** @type {string} */ begin, /** @type {string} */ end) =>
    `${begin}${lines.join('\n')}${end}`;
  writeFileSync(operating, text.replace(/(<!-- processes -->\n\n).*(\n\n<!-- \/processes -->)/s, block));
  execFileSync('npx', ['prettier', '--write', operating, factorsFile], { stdio: 'ignore' });
}
if (errors > 0) process.exitCode = 1;
