// Durable updates on disks with slower syncs than this machine's: `npm run bench:disk`. A disk with a write cache hides
// the benefit of group commits.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseServers } from './choose.mjs';
import { describeMachine, resultsFolder, versions } from './machine.mjs';
import { plot } from './plot.mjs';
import { processorsWith } from './process.mjs';
import { figuresOf } from './report.mjs';
import { diskTables, stageTitle } from './slow-disk-report.mjs';
import { createSlowSyncs, hasSlowSyncs } from './slow-syncs.mjs';
import { spread } from './statistics.mjs';
import { conditionsOf, runOptions, runWorkload } from './workload.mjs';

const { values } = parseArgs({
  options: {
    ...runOptions,
    seconds: { type: 'string', default: '2' },
    'warm-up': { type: 'string', default: '10' },
    servers: { type: 'string', default: 'keyfront,raw,raw-single,apollo,mercurius-jit' },
    /** Additional durations of a sync in microseconds. */
    longer: { type: 'string', default: '0,500,1000,2000,5000' },
    /** The processor of the server: another may be less busy. */
    processor: { type: 'string', default: '0' },
  },
});
if (!hasSlowSyncs) {
  console.error('Syncs can only be made to take longer on Linux, and with a C compiler: cc, gcc or clang.');
  process.exit(1);
}
const chosen = chooseServers(values.servers);

const conditions = conditionsOf(values, processorsWith(Number(values.processor)));
/**
 * Maximum share of the server's processor that other processes may use in a round. On a busy processor, a thread waits
 * after each sync, which lengthens the syncs of some servers only.
 */
const maxOthers = 0.1;
const machine = describeMachine();
const place = mkdtempSync(join(tmpdir(), 'keyfront-bench-disk-'));
const disk = createSlowSyncs(place);
try {
  const stages = values.longer.split(',').map((name) => {
    const longerUs = Number(name);
    /** @type {{ us: number, cpuUs: number }[]} */
    const syncs = [];
    const begin = () => {
      disk.lengthen(longerUs);
      syncs.push(disk.measure(place, join(place, 'sync'), { count: 50, cpus: conditions.cpus?.server }));
    };
    return { name, longerUs, syncs, begin };
  });
  const found = await runWorkload({
    ...conditions,
    workload: 'update',
    servers: chosen.map((server) => ({ ...server, env: { ...server.env, ...disk.env } })),
    stages,
    write: console.error,
  });
  const record = {
    ...machine,
    loadAverageAfter: describeMachine().loadAverage,
    versions: versions(),
    conditions,
    stages: stages.map(({ name, longerUs, syncs }) => {
      const ofStage = found.servers.map(({ rounds = [], ...server }) => ({
        ...server,
        rounds: rounds.filter(({ stage }) => stage === name),
      }));
      const others = syncs.map((_, round) => Math.max(...ofStage.map(({ rounds }) => rounds[round]?.others || 0)));
      const isQuiet = (/** @type {unknown} */ _, /** @type {number} */ round) => Number(others[round]) <= maxOthers;
      const quiet = ofStage.map(({ rounds, ...server }) => ({ ...server, rounds: rounds.filter(isQuiet) }));
      const quietSyncs = syncs.filter(isQuiet);
      return {
        longerUs,
        syncUs: spread(quietSyncs.map(({ us }) => us)).median,
        syncCpuUs: spread(quietSyncs.map(({ cpuUs }) => cpuUs)).median,
        others,
        quietRounds: quietSyncs.length,
        ...figuresOf({ ...found, servers: quiet }),
      };
    }),
  };

  const folder = resultsFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'disk.json'), `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(folder, 'disk.md'), diskTables(record));
  writeFileSync(
    join(folder, 'disk.svg'),
    plot(Object.fromEntries(record.stages.map((stage) => [stageTitle(stage), stage]))),
  );
  console.log(diskTables(record));
  console.log(`Written to ${folder}`);

  const unsound = record.stages.flatMap((stage) => stage.servers.filter(({ isSound }) => !isSound));
  for (const { name } of unsound) console.error(`${name} had errors, or its history lacks confirmed updates.`);
  const restless = record.stages.filter(({ quietRounds }) => quietRounds === 0);
  for (const stage of restless)
    console.error(`${stageTitle(stage)}: no round was quiet. Try again on a machine at rest.`);
  if (unsound.length + restless.length > 0) process.exitCode = 1;
} finally {
  disk.close();
  rmSync(place, { recursive: true });
}
