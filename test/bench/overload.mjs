// Load shedding with an open loop: requests arrive at 1.5 and 2 times the rate that the service reaches, however long
// they take. `node test/bench/overload.mjs --builds dist,build.base` measures several builds in turn; a build is a folder
// inside this project, so that its imports resolve. Run `npm run build` first, which also builds the requests.
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { nodeOptions } from '../../build/config/node-options.js';
import { sendLoad, writeWorkloads } from './fleet.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine } from './machine.mjs';
import { ownWorkloads } from './payload.mjs';
import { node, processors, startServer } from './process.mjs';

const { values } = parseArgs({
  options: {
    builds: { type: 'string', default: 'dist' },
    workloads: { type: 'string', default: 'preview,update,rest-preview,rest-update' },
    factors: { type: 'string', default: '1.5,2' },
    rounds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
  },
});
const builds = values.builds.split(',');
const factors = values.factors.split(',').map(Number);
const seconds = Number(values.seconds);
const metricsPort = 19_464;
const warmUpSeconds = 3;

/** @typedef {{ count: number, p50Ms: number | null, p99Ms: number | null, maxMs: number | null }} Times null without a response */
/**
 * @typedef {object} Found
 * @property {number} sent
 * @property {number} notSent for lack of a connection
 * @property {number} broken
 * @property {number} other responses that are neither good nor 503
 * @property {number} without requests without a response
 * @property {number} withoutRetryAfter
 * @property {string} firstOther
 * @property {number} lateMs how late a request was sent at most
 * @property {Times} accepted
 * @property {Times} rejected
 */

console.log(describeMachine());
console.log('');
console.log(
  '| workload | build | capacity | arrivals/s | accepted/s | p50 ms | p99 | max | 503 | p50 ms | p99 | other, broken, unanswered, not sent | latest sent | 503 without Retry-After | longest queue | rejected (metric) |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|');

// A build may not read the database of another.
const folders = new Map(builds.map((build) => [build, createFolder(build)]));
try {
  const chosen = Object.fromEntries(
    values.workloads.split(',').map((name) => [name, ownWorkloads[/** @type {keyof ownWorkloads} */ (name)]]),
  );
  for (const { path } of folders.values()) writeWorkloads(path, chosen);
  let run = 0;
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [workload, { good }] of Object.entries(chosen)) {
      for (const factor of factors) {
        for (const [build, folder] of folders)
          await overload(build, folder, workload, good, factor, `run-${(run += 1)}`);
      }
    }
  }
} finally {
  for (const folder of folders.values()) folder.remove();
}

async function overload(
  /** @type {string} */ build,
  /** @type {ReturnType<typeof createFolder>} */ folder,
  /** @type {string} */ workload,
  /** @type {string} */ good,
  /** @type {number} */ factor,
  /** @type {string} */ name,
) {
  const server = { name, label: build, script: `../../${build}/main.js`, args: ['serve'], workloads: [] };
  const service = await startServer(server, {
    data: folder.copy(name),
    log: join(folder.path, `${name}.log`),
    flags: [...nodeOptions],
    cpus: processors?.server,
    more: { KEYFRONT_METRICS_PORT: String(metricsPort) },
  });
  try {
    const job = {
      url: service.url,
      headers: folder.headersFor(workload),
      bodies: join(folder.path, workload),
      offset: 0,
      good,
    };
    const closed = (/** @type {number} */ forSeconds) =>
      sendLoad({ ...job, connections: 64, seconds: forSeconds }, processors?.load);
    await closed(warmUpSeconds);
    const { perSecond: capacity } = await closed(warmUpSeconds);
    const before = await readMetrics();
    const sampling = { isOver: false, longest: 0 };
    const sampled = sampleQueue(sampling);
    const found = await sendOpenLoad({ ...job, offset: 101, perSecond: Math.round(capacity * factor), seconds });
    sampling.isOver = true;
    await sampled;
    const counted = (await readMetrics()).rejected - before.rejected;
    const { sent, notSent, accepted, rejected, other, broken, without, withoutRetryAfter, firstOther, lateMs } = found;
    const ms = (/** @type {number | null} */ value) => value?.toFixed(0) ?? '-';
    const cells = [
      workload,
      build,
      capacity.toFixed(0),
      `${((sent + notSent) / seconds).toFixed(0)} (${factor})`,
      (accepted.count / seconds).toFixed(0),
      ms(accepted.p50Ms),
      ms(accepted.p99Ms),
      ms(accepted.maxMs),
      `${((100 * rejected.count) / sent).toFixed(0)} %`,
      ms(rejected.p50Ms),
      ms(rejected.p99Ms),
      `${other}, ${broken}, ${without}, ${notSent}${firstOther && ` ${firstOther.slice(0, 80)}`}`,
      `${ms(lateMs)} ms late`,
      withoutRetryAfter,
      sampling.longest,
      counted,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  } finally {
    await service.stop();
  }
}

async function sendOpenLoad(/** @type {import('./open-load.mjs').OpenJob} */ job) {
  const script = new URL('open-load.mjs', import.meta.url).pathname;
  const child = node(processors?.load, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify(job));
  return /** @type {Found} */ (await json(/** @type {any} */ (child.stdout)));
}

async function sampleQueue(/** @type {{ isOver: boolean, longest: number }} */ sampling) {
  while (!sampling.isOver) {
    sampling.longest = Math.max(sampling.longest, (await readMetrics()).waiting);
    await setTimeout(100);
  }
}

/** The number of waiting requests, and of those that were rejected because of overload so far. */
async function readMetrics() {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const text = await response.text();
  const valueOf = (/** @type {RegExp} */ pattern) => Number(pattern.exec(text)?.[1] ?? 0);
  return {
    waiting: valueOf(/^keyfront_queue_length\{queue="requests"\} (\S+)/m),
    rejected: valueOf(/^keyfront_refused_total\{reason="overload"\} (\S+)/m),
  };
}
