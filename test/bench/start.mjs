// The time from the start of a process to its first correct response, and its memory: `node test/bench/start.mjs`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chooseServers } from './choose.mjs';
import { enter } from './entrant.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine, resultsFolder, versions } from './machine.mjs';
import { ownWorkloads } from './payload.mjs';
import { startServer } from './process.mjs';
import { startPlot, startTable } from './start-report.mjs';
import { spread } from './statistics.mjs';
import { sendRequest, createComparison } from './verify.mjs';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    servers: { type: 'string', default: 'keyfront,raw,apollo,mercurius-jit,yoga' },
    flags: { type: 'string', default: '--max-semi-space-size=64' },
  },
});
const chosen = chooseServers(values.servers);
const seconds = Number(values.seconds);
const flags = values.flags.split(' ').filter(Boolean);
const workload = /** @type {const} */ ('preview');

const body = /** @type {string} */ (ownWorkloads[workload].bodies[0]);
const folder = createFolder();
const machine = describeMachine();
const bareMs = [];
const found = chosen.map((server) => ({
  server,
  data: folder.copy(`${server.name}-starts`),
  figures: {
    listeningMs: /** @type {number[]} */ ([]),
    firstResponseMs: /** @type {number[]} */ ([]),
    firstResponseMiB: /** @type {number[]} */ ([]),
  },
  idleMiB: NaN,
  loadedMiB: NaN,
}));
const compare = createComparison();
try {
  // The first start of each server is not measured: it fills the page cache, and its response is verified.
  for (let start = 0; start <= Number(values.starts); start += 1) {
    for (const { server, data, figures } of found) {
      const log = join(folder.path, `${server.name}.log`);
      const running = await startServer(server, {
        data,
        log,
        flags,
        cpus: undefined,
        more: { BENCH_WORKLOAD: workload },
      });
      const { response } = await sendRequest(running.url, folder.headers, body);
      const firstResponseMs = performance.now() - running.began;
      if (start === 0) compare(server, response);
      else {
        figures.listeningMs.push(running.listeningMs);
        figures.firstResponseMs.push(firstResponseMs);
        figures.firstResponseMiB.push(running.memoryMiB());
      }
      await running.stop();
    }
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    bareMs.push(performance.now() - began);
  }
  for (const one of found) {
    const entrant = await enter(one.server, { workload, folder, flags, cpus: undefined, connections: 64 });
    await sendRequest(entrant.running.url, folder.headers, body);
    await setTimeout(3_000);
    one.idleMiB = entrant.running.memoryMiB();
    await entrant.measure(seconds);
    one.loadedMiB = entrant.running.memoryMiB();
    await entrant.leave();
  }
} finally {
  folder.remove();
}

const rows = found.map(({ server: { name, label }, figures, idleMiB, loadedMiB }) => ({
  name,
  label,
  ...Object.fromEntries(Object.entries(figures).map(([figure, each]) => [figure, spread(each)])),
  idleMiB,
  loadedMiB,
}));
const record = {
  ...machine,
  versions: versions(),
  starts: Number(values.starts),
  seconds,
  flags,
  bareMs: spread(bareMs),
  rows,
};

const into = resultsFolder();
mkdirSync(into, { recursive: true });
writeFileSync(join(into, 'start.json'), `${JSON.stringify(record, null, 2)}\n`);
writeFileSync(join(into, 'start.md'), startTable(record));
writeFileSync(join(into, 'start.svg'), startPlot(record));
console.log(`${startTable(record)}\nWritten to ${into}`);
