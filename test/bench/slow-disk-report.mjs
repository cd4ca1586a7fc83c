import { labelOf, ranged } from './report.mjs';

/** The goal of durable updates, as a multiple of Apollo's rate. */
const wanted = 4;

const ms = (/** @type {number} */ us) => (us / 1000).toFixed(2);

/** Describes the disk of a stage. */
export function stageTitle(/** @type {{ longerUs: number, syncUs: number }} */ { longerUs, syncUs }) {
  const how = longerUs === 0 ? 'Syncs as they are' : `Syncs ${longerUs / 1000} ms longer`;
  return `${how}, ${ms(syncUs)} ms each`;
}

/**
 * Returns the duration of a sync from which a ratio is reached and kept, by linear interpolation between measured
 * durations; undefined if it is not reached.
 */
export function reachedAt(
  /** @type {readonly { syncUs: number, ratio: number }[]} */ points,
  /** @type {number} */ ratio,
) {
  const last = points.findLastIndex((point) => !(point.ratio >= ratio));
  const [from, to] = [points[last], points[last + 1]];
  if (!from || !to) return to?.syncUs;
  return from.syncUs + ((ratio - from.ratio) / (to.ratio - from.ratio)) * (to.syncUs - from.syncUs);
}

/** Formats a run as Markdown. */
export function diskTables(
  /** @type {any} */ { date, commit, machine, loadAverage, loadAverageAfter, versions, conditions, stages },
) {
  const { rounds, seconds, connections, flags, cpus } = conditions;
  const quiet = stages.map((/** @type {any} */ { quietRounds }) => quietRounds);
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const where = cpus ? 'server and load each on a processor of its own' : 'server and load on the same processors';
  return `# Durable updates on slower disks

${date}, commit ${commit}. ${machine}; load average ${loadAverage.toFixed(1)} before and ${loadAverageAfter.toFixed(1)} after.
\`updateOrgKey\` with \`resetQuota\` over 1,000 keys; ${rounds} interleaved rounds of ${seconds} s, ${connections} keep-alive connections, ${where},
NODE_ENV=production, V8 flags: ${flags.join(' ') || 'none'}. ${used.join(', ')}.
Each sync of a file of the data folder takes so much longer (\`slow-sync.c\`), in which the server sleeps and needs no processor; all
servers are on the same disk, and their processes stay up from one to the next. A sync's time is the median of 50 in each round, of a
page of a file that is written again, on the server's processor. Of the rounds ${quiet.join(', ')} were quiet enough to count: nothing else had
more than a tenth of the server's processor in any part of them. Medians of the rounds [smallest-largest]; a ratio is the median of the
rounds' own ratios. Apollo, Mercurius and the bare server with single transactions have one transaction per request on the same core.

${summary(stages)}
${stages.map(section).join('')}
## Confirmed = in history

Over all disks, warm-up included: ${historiesOf(stages[0]?.servers ?? [])}.
`;
}

function summary(/** @type {readonly any[]} */ stages) {
  const of = (/** @type {any} */ stage, /** @type {string} */ wantedName) =>
    stage.servers.find((/** @type {any} */ { name }) => name === wantedName);
  const rows = stages.map((stage) => {
    const [ours, raw, apollo] = ['keyfront', 'raw', 'apollo'].map((name) => of(stage, name));
    return [
      ms(stage.syncUs),
      ours?.perSecond.median.toFixed(0),
      apollo?.perSecond.median.toFixed(0),
      ranged(ours?.toApollo, 2),
      ranged(raw?.toApollo, 2),
      ours?.toRaw?.median.toFixed(2),
      `${ours?.p99Ms.toFixed(0)} / ${apollo?.p99Ms.toFixed(0)}`,
    ];
  });
  const points = stages.map((stage) => ({
    syncUs: stage.syncUs,
    ratio: of(stage, 'keyfront')?.toApollo?.median ?? NaN,
  }));
  const at = reachedAt(points, wanted);
  const reached =
    at === undefined
      ? `With none of these does Keyfront come to ${wanted} × Apollo and stay there.`
      : `Keyfront comes to ${wanted} × Apollo, and stays above, where a sync takes some ${(at / 1000).toFixed(1)} ms.`;
  return `| a sync, ms | Keyfront/s | Apollo/s | Keyfront × Apollo | bare × Apollo | Keyfront × bare | p99 ms, Keyfront / Apollo |
|${'---|'.repeat(7)}
${rows.map((row) => `| ${row.map((cell) => cell ?? '-').join(' | ')} |`).join('\n')}

${reached}`;
}

function section(/** @type {any} */ stage) {
  const head = ['server', 'requests/s', '× Apollo', '× raw', 'p50 ms', 'p99 ms', 'CPU µs', 'errors'];
  const rows = stage.servers.map((/** @type {any} */ one) => [
    labelOf(one),
    ranged(one.perSecond, 0),
    ranged(one.toApollo, 2),
    ranged(one.toRaw, 2),
    one.p50Ms.toFixed(1),
    one.p99Ms.toFixed(1),
    ranged(one.cpuUs, 0),
    one.errors,
  ]);
  return `
## ${stageTitle(stage)}

| ${head.join(' | ')} |
|${'---|'.repeat(head.length)}
${rows.map((/** @type {unknown[]} */ row) => `| ${row.join(' | ')} |`).join('\n')}
`;
}

function historiesOf(/** @type {readonly any[]} */ servers) {
  return servers
    .map(({ label, acknowledged, audited }) =>
      acknowledged === audited ? `${label} ${audited}` : `${label} ${acknowledged} ≠ ${audited}`,
    )
    .join(', ');
}
