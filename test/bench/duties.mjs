// The CPU time that each duty of the service adds to a preview: `npm run bench:duties`. For each duty, a process runs
// the compiled service with some modules replaced by those in `without/`. All processes run at once and are loaded in
// turn. The service has no settings for this.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { enter } from './entrant.mjs';
import { createFolder } from './folder.mjs';
import { describeMachine, resultsFolder } from './machine.mjs';
import { processors } from './process.mjs';
import { spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    flags: { type: 'string', default: '--max-semi-space-size=64' },
    only: { type: 'string' },
    into: { type: 'string' },
  },
});

/**
 * @typedef {object} Duty
 * @property {string} name
 * @property {string} effect of the replacement
 * @property {readonly string[]} [without] keys of `without/replacements.mjs`
 * @property {Record<string, string>} [env]
 * @property {readonly string[]} [flags] options of V8, in addition to those of all processes
 */

/** @type {readonly Duty[]} */
const duties = [
  { name: 'credentials', effect: 'verifies the credentials of the first request only', without: ['credentials'] },
  { name: 'log line', effect: 'writes no line for a request', env: { LOG_LEVEL: 'warn' } },
  { name: 'deadline', effect: 'stops no operation', without: ['deadline'] },
  {
    name: 'exact JSON',
    effect: 'reads with JSON.parse, which rounds integers and accepts repeated members',
    without: ['exact JSON'],
  },
  {
    name: 'guards of HTTP',
    effect: 'does not check for ambiguous requests, does not queue them and leaves unread bodies alone',
    without: ['guards of HTTP'],
  },
];

/** @type {readonly Duty[]} */
const compared = [
  { name: 'all', effect: 'the service as it is' },
  { name: 'nothing', effect: 'the same once more, which shows what chance does' },
  ...duties,
  {
    name: 'these five',
    effect: 'none of them',
    without: duties.flatMap(({ without = [] }) => without),
    env: { LOG_LEVEL: 'warn' },
  },
  { name: 'fast path', effect: 'Yoga serves every request', without: ['fast path'] },
  { name: 'fast validation', effect: 'zod reads every definition', without: ['fast validation'] },
  {
    name: 'no __proto__',
    effect: 'with the option of `npm start`',
    flags: ['--disable-proto=delete'],
  },
];

const hooks = new URL('without/hooks.mjs', import.meta.url).href;
const chosen = compared.filter(({ name }) => name === 'all' || (values.only?.split(',').includes(name) ?? true));
const folder = createFolder();
/** @type {{ duty: Duty, entrant: import('./entrant.mjs').Entrant, cpuUs: number[] }[]} */
const running = [];
try {
  for (const duty of chosen) {
    const server = {
      name: `duty-${running.length}`,
      label: duty.name,
      script: '../../build/main.js',
      args: ['serve'],
      env: { ...duty.env, BENCH_WITHOUT: (duty.without ?? []).join() },
      workloads: /** @type {const} */ (['preview']),
    };
    const flags = [...values.flags.split(' '), `--import=${hooks}`, ...(duty.flags ?? [])];
    const connections = Number(values.connections);
    const entrant = await enter(server, { workload: 'preview', folder, flags, cpus: processors, connections });
    running.push({ duty, entrant, cpuUs: [] });
  }
  // The first round only warms up.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    // The first process of a round finds the processor in another state.
    const first = round % running.length;
    for (const one of [...running.slice(first), ...running.slice(0, first)]) {
      const { cpuUs, errors, firstError } = await one.entrant.measure(Number(values.seconds));
      if (errors > 0) throw new Error(`${one.duty.name}: ${firstError}`);
      if (round > 0) one.cpuUs.push(cpuUs);
    }
  }
} finally {
  for (const { entrant } of running) await entrant.leave();
  folder.remove();
}

const [all] = running;
const rows = running.map(({ duty, cpuUs }) => {
  const { median, min, max } = spread(cpuUs);
  const saved = spread(cpuUs.map((figure, round) => (all?.cpuUs[round] ?? NaN) - figure)).median;
  const difference = duty.name === 'all' ? '' : `${saved < 0 ? '+' : '-'}${Math.abs(saved).toFixed(0)}`;
  return `| ${duty.name} | ${duty.effect} | ${median.toFixed(0)} [${min.toFixed(0)}-${max.toFixed(0)}] | ${difference} |`;
});
const { date, commit, machine, loadAverage } = describeMachine();
const text = `# What each duty costs a preview

${date}, commit ${commit}. ${machine}; load average ${loadAverage.toFixed(1)}. ${values.rounds} interleaved rounds of ${values.seconds} s,
${values.connections} connections, V8 flags: ${values.flags}. Processor time per preview in µs, user and system: medians [smallest-largest] and the
median of the rounds' own differences to the service as it is. Not bundled, so that the whole is a little slower than \`dist/\`.

| without | what it does instead | CPU µs | difference |
|---|---|---|---|
${rows.join('\n')}
`;
const into = values.into ?? resultsFolder();
mkdirSync(into, { recursive: true });
writeFileSync(join(into, 'duties.md'), text);
console.log(text);
