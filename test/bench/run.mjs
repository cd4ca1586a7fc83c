// Compares Keyfront with other servers, on the same machine and in the same run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseServers } from './choose.mjs';
import { clients } from './clients.mjs';
import { describeMachine, resultsFolder, versions } from './machine.mjs';
import { plot } from './plot.mjs';
import { processors } from './process.mjs';
import { clientFigures, figuresOf, tables } from './report.mjs';
import { servers } from './servers.mjs';
import { conditionsOf, runOptions, runWorkload } from './workload.mjs';

const { values } = parseArgs({
  options: {
    ...runOptions,
    only: { type: 'string' },
    servers: { type: 'string' },
    unpinned: { type: 'boolean', default: false },
  },
});

const names = /** @type {const} */ (['preview', 'update', 'rest-preview', 'rest-update']);
const only = values.only?.split(',') ?? [...names, 'clients'];
const unknown = only.filter((name) => ![...names, 'clients'].includes(name));
if (unknown.length > 0) throw new Error(`--only ${unknown} is none of ${[...names, 'clients']}.`);
const workloads = names.filter((name) => only.includes(name));
const chosen = chooseServers(values.servers);

const conditions = conditionsOf(values, values.unpinned ? undefined : processors);
const machine = describeMachine();
/** @type {Record<string, ReturnType<typeof figuresOf>>} */
const results = {};
for (const workload of workloads) {
  const entrants = chosen.filter((server) => server.workloads.includes(workload));
  results[workload] = figuresOf(
    await runWorkload({ ...conditions, workload, servers: entrants, write: console.error }),
  );
}
const keyfront = servers.filter(({ name }) => name === 'keyfront');
const clientStages = clients.map((client) => ({ name: client.name, client }));
const byClient = only.includes('clients')
  ? clientFigures(
      await runWorkload({
        ...conditions,
        workload: 'preview',
        servers: keyfront,
        stages: clientStages,
        write: console.error,
      }),
    )
  : undefined;
const record = {
  ...machine,
  loadAverageAfter: describeMachine().loadAverage,
  versions: versions(),
  conditions,
  results,
  clients: byClient,
};

const folder = resultsFolder();
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'results.json'), `${JSON.stringify(record, null, 2)}\n`);
writeFileSync(join(folder, 'results.md'), tables(record));
writeFileSync(join(folder, 'plot.svg'), plot(results, byClient));
console.log(tables(record));
console.log(`Written to ${folder}`);

const unsound = Object.values(results).flatMap(({ servers }) => servers.filter(({ isSound }) => !isSound));
for (const { name } of unsound) console.error(`${name} had errors, or its history lacks confirmed updates.`);
const failed = (byClient ?? []).filter(({ errors }) => errors > 0);
for (const { label, firstError } of failed) console.error(`${label} had errors: ${firstError}`);
if (unsound.length + failed.length > 0) process.exitCode = 1;
