import { bars } from './plot.mjs';
import { labelOf, ranged } from './report.mjs';

/** Formats the starts as Markdown. */
export function startTable(
  /** @type {any} */ { date, commit, machine, loadAverage, versions, starts, seconds, flags, bareMs, rows },
) {
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `# Start and memory

${date}, commit ${commit}. ${machine}; load average ${loadAverage.toFixed(1)} before.
${starts} interleaved starts on a data folder with 1,000 keys, NODE_ENV=production, V8 flags: ${flags.join(' ') || 'none'}.
${used.join(', ')}.
Medians [smallest-largest]. Memory is the resident set in MiB; under load, after ${seconds} s with 64 connections.
For scale: \`node -e 0\` takes ${ranged(bareMs, 0)} ms to its end.

| server | ms until it listens | ms until the first correct response | memory after it | idle | under load |
|---|---|---|---|---|---|
${rows.map((/** @type {any} */ one) => `| ${cellsOf(one).join(' | ')} |`).join('\n')}
`;
}

/** Plots the starts. */
export function startPlot(/** @type {any} */ { rows }) {
  const panel = (/** @type {string} */ title, /** @type {(one: any) => import('./statistics.mjs').Spread} */ read) => ({
    title,
    rows: rows.map((/** @type {any} */ one) => ({
      label: one.label,
      note: String(Math.round(read(one).median)),
      isOurs: one.name === 'keyfront',
      ...read(one),
    })),
  });
  return bars([
    panel('Milliseconds from the start to the first correct response', ({ firstResponseMs }) => firstResponseMs),
    panel('Memory under load in MiB; the whisker begins where it is idle', ({ idleMiB, loadedMiB }) => ({
      median: loadedMiB,
      min: idleMiB,
      max: loadedMiB,
    })),
  ]);
}

function cellsOf(/** @type {any} */ one) {
  const { listeningMs, firstResponseMs, firstResponseMiB, idleMiB, loadedMiB } = one;
  const ranges = [listeningMs, firstResponseMs, firstResponseMiB].map((spread) => ranged(spread, 0));
  return [labelOf(one), ...ranges, Math.round(idleMiB), Math.round(loadedMiB)];
}
