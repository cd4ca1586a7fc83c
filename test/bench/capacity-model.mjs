// The figures of test/bench/capacity.md that the model computes, from the measured costs of one process on its own processor. The
// factors of several processes are in process-factors.json, which processes.mjs writes.
import { readFileSync } from 'node:fs';
import { limitsOf, simulate } from './queue-model.mjs';

/** @typedef {import('./queue-model.mjs').Costs} Costs */
/** @typedef {{ processes: number, keyfront: number, postgres: number }} Factors */

/** Duration of a sync of a network disk. */
const networkDiskSyncUs = 5_000;

/** @returns {readonly Factors[]} */
export function measuredFactors() {
  return JSON.parse(readFileSync(new URL('process-factors.json', import.meta.url), 'utf8'));
}

/**
 * Returns the costs of an update with several processes: those of one process, multiplied by the factors that were
 * measured with this number of processes, or with the next smaller one.
 */
function costsWith(
  /** @type {Costs} */ costs,
  /** @type {number} */ processes,
  /** @type {readonly Factors[]} */ factors,
) {
  const found = factors.filter((one) => one.processes <= processes).at(-1) ?? { keyfront: 1, postgres: 1 };
  return {
    ...costs,
    process: costs.process * found.keyfront,
    row: costs.row * found.postgres,
    group: costs.group * found.postgres,
  };
}

/** Returns the lines of the model, from the costs of an update with one process. */
export function modelLines(/** @type {Costs} */ costs, /** @type {readonly Factors[]} */ factors) {
  const many = (/** @type {number} */ value) => (value >= 1000 ? `${(value / 1000).toFixed(1)} k` : value.toFixed(0));
  const last = factors.at(-1);
  const lines = [
    `By the model, from these figures: an update takes ${Math.round(costs.process)} µs of Keyfront’s processor and ${Math.round(costs.row)} of PostgreSQL’s, a group of them ${Math.round(costs.group)} more, two trips and a wait for the disk; with more processes these times grow as measured below, from ${last?.processes} processes on by ${last?.keyfront} and ${last?.postgres}. Each process has a core of its own.`,
    '',
    `| processes of Keyfront | cores of PostgreSQL | updates/s at most | what gives out | p50 / p99 ms at half of that | at 90 % | at half, the disk ${networkDiskSyncUs / 1000} ms away |`,
    '|---|---|---|---|---|---|---|',
  ];
  for (const [processes, processors] of /** @type {const} */ ([
    [1, 2],
    [2, 2],
    [3, 2],
    [4, 4],
    [8, 4],
    [16, 4],
    [16, 16],
    [64, 16],
  ])) {
    const machine = { processes, processors };
    const own = costsWith(costs, processes, factors);
    const [[what, limit] = ['', 0]] = Object.entries(limitsOf(own, machine)).sort(([, a], [, b]) => a - b);
    const at = (/** @type {number} */ share, disk = own.sync) => {
      const load = { perSecond: limit * share, seconds: 4, random: createRandom() };
      const { p50Ms, p99Ms } = simulate({ ...own, sync: disk }, machine, load);
      return `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
    };
    lines.push(
      `| ${[processes, processors, many(limit), what, at(0.5), at(0.9), at(0.5, networkDiskSyncUs)].join(' | ')} |`,
    );
  }
  const oneCore = limitsOf(costsWith(costs, Infinity, factors), { processes: 1, processors: 1 });
  const ofServer = oneCore['PostgreSQL’s processors'] ?? NaN;
  lines.push(
    '',
    `One core of PostgreSQL carries ${many(ofServer)} updates a second of ${last?.processes} or more processes, and ${(ofServer / (oneCore['Keyfront’s processors'] ?? NaN)).toFixed(1)} processes of Keyfront keep it busy.`,
  );
  return lines;
}

/** Creates a generator with the same numbers in every run. */
function createRandom() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
