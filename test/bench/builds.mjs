// Compares builds of Keyfront: rate and processor time of a request, in turn and in one run. A build is a folder inside
// this project, so that its imports resolve: `node test/bench/builds.mjs --builds build.base,dist`. Run `npm run build`
// first, which also builds the requests. The first build is the one that the others are divided by.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeOptions } from '../../build/config/node-options.js';
import { sendLoad, writeWorkloads } from './fleet.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine } from './machine.mjs';
import { ownWorkloads } from './payload.mjs';
import { processors, startServer } from './process.mjs';
import { quantile } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    builds: { type: 'string', default: 'build.base,dist' },
    workloads: { type: 'string', default: 'preview,update,rest-preview,rest-update' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
  },
});
const builds = values.builds.split(',');
const workloads = values.workloads.split(',');
const connections = Number(values.connections);

/** @typedef {{ perSecond: number, cpuUs: number, p90: number, p99: number }} Measured */
/** @type {Map<string, Measured[]>} */
const measured = new Map();
// A build may not read the database of another.
const folders = new Map(builds.map((build) => [build, createFolder(build)]));
try {
  const chosen = Object.fromEntries(
    workloads.map((name) => [name, ownWorkloads[/** @type {keyof ownWorkloads} */ (name)]]),
  );
  for (const { path } of folders.values()) writeWorkloads(path, chosen);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [workload, { good }] of Object.entries(chosen)) {
      for (const [build, folder] of folders) {
        const name = `${workload} ${build}`;
        const found = await measure(build, folder, workload, good, `${workload}-${round}`);
        measured.set(name, [...(measured.get(name) ?? []), found]);
      }
    }
  }
} finally {
  for (const folder of folders.values()) folder.remove();
}

console.log(describeMachine());
console.log(
  '\n| workload | build | requests/s | range | µs of CPU | ÷ first | rate ÷ first | p90 ÷ p50 | p99 ÷ p50 |\n|---|---|---|---|---|---|---|---|---|',
);
for (const workload of workloads) {
  for (const build of builds) {
    const { rates, rate, cpuUs, p90, p99 } = medians(`${workload} ${build}`);
    const cells = [
      workload,
      build,
      rate.toFixed(0),
      `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}`,
      cpuUs.toFixed(0),
      ratioText(workload, build, 'cpuUs'),
      ratioText(workload, build, 'perSecond'),
      p90.toFixed(2),
      p99.toFixed(2),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

/** Returns the median and the range of the ratios to the first build, each of one round: the speed of a machine varies. */
function ratioText(
  /** @type {string} */ workload,
  /** @type {string} */ build,
  /** @type {'cpuUs' | 'perSecond'} */ figure,
) {
  const first = measured.get(`${workload} ${builds[0]}`) ?? [];
  const found = measured.get(`${workload} ${build}`) ?? [];
  const ratios = found.map((one, round) => one[figure] / (first[round]?.[figure] ?? NaN));
  return `${quantile(ratios, 0.5).toFixed(2)} [${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}]`;
}

function medians(/** @type {string} */ name) {
  const found = measured.get(name) ?? [];
  const rates = found.map(({ perSecond }) => perSecond);
  const median = (/** @type {keyof Measured} */ figure) =>
    quantile(
      found.map((one) => one[figure]),
      0.5,
    );
  return {
    rates,
    rate: quantile(rates, 0.5),
    cpuUs: median('cpuUs'),
    p90: median('p90'),
    p99: median('p99'),
  };
}

/** @returns {Promise<Measured>} */
async function measure(
  /** @type {string} */ build,
  /** @type {ReturnType<typeof createFolder>} */ folder,
  /** @type {string} */ workload,
  /** @type {string} */ good,
  /** @type {string} */ name,
) {
  const server = { name, label: build, script: `../../${build}/main.js`, args: ['serve'], workloads: [] };
  const service = await startServer(server, {
    data: folder.copy(name),
    log: join(folder.path, `${name}.log`),
    flags: [...nodeOptions],
    cpus: processors?.server,
  });
  try {
    const job = { url: service.url, headers: folder.headersFor(workload), bodies: join(folder.path, workload), good };
    await sendLoad({ ...job, offset: 0, connections, seconds: 3 }, processors?.load);
    const beforeUs = service.cpuUs();
    const {
      perSecond,
      good: count,
      p50Ms,
      p90Ms,
      p99Ms,
    } = await sendLoad({ ...job, offset: 101, connections, seconds: Number(values.seconds) }, processors?.load);
    return { perSecond, cpuUs: (service.cpuUs() - beforeUs) / count, p90: p90Ms / p50Ms, p99: p99Ms / p50Ms };
  } finally {
    await service.stop();
  }
}
