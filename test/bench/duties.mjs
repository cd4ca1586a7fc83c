// What each duty of the service costs a preview: `npm run bench:duties`. A copy of the compiled service is made for each
// duty, in which a line or two are taken out or put back to how things are done elsewhere; all copies run at once and are
// loaded in turn. Nothing of this can be switched in the service itself.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
 * @property {string} says what the copy does
 * @property {readonly (readonly [file: string, from: string, to: string])[]} [patches] of compiled files
 * @property {readonly string[]} [flags] V8's, beside those of all
 */

const unused = 'void 0;';
const byYoga = /** @type {const} */ ([
  'graphql/yoga.js',
  'const contentType = hasShortcut &&',
  'const contentType = undefined &&',
]);

/** @type {readonly Duty[]} */
const duties = [
  {
    name: 'credentials',
    says: 'who asked first is taken to have asked again',
    patches: [['http/request-context.js', '(principal ??= authenticate(', '(globalThis.held ??= authenticate(']],
  },
  {
    name: 'log line',
    says: 'no line for a request',
    patches: [['app.js', "log.info({ requestID, method, route, status, operation, verdict, ms }, 'request');", unused]],
  },
  {
    name: 'deadline',
    says: 'no operation is given up',
    patches: [
      [
        'graphql/shortcut.js',
        'const deadline = startDeadline(deadlineMs, isMutation);',
        'const deadline = { clear() {} };',
      ],
      ['graphql/shortcut.js', 'deadline: isMutation ? undefined : deadline,', 'deadline: undefined,'],
    ],
  },
  {
    name: 'exact JSON',
    says: 'JSON.parse, which rounds integers and takes a member twice',
    patches: [['lib/json.js', 'const value = parseNatively(text);', 'const value = JSON.parse(text);']],
  },
  {
    name: 'guards of HTTP',
    says: 'no look for requests that two readers understand differently, no line to wait in, no cutting of bodies',
    patches: [
      ['http/server.js', 'const flaw = flawOf(request);', 'const flaw = undefined;'],
      ['http/server.js', 'cutUnreadBody(request, response);', unused],
      [
        'http/server.js',
        "if (healthPaths.includes(request.url ?? ''))",
        'return handle(request, response, arrivedMs);\n        if (false)',
      ],
    ],
  },
];

/** @type {readonly Duty[]} */
const compared = [
  { name: 'all', says: 'the service as it is' },
  { name: 'nothing', says: 'the same once more, which shows what chance does' },
  ...duties,
  { name: 'these five', says: 'none of them', patches: duties.flatMap(({ patches = [] }) => patches) },
  {
    name: 'rules read quickly',
    says: 'the other way round: every definition is read by zod',
    patches: [['keys/definition-input.js', 'const value = quickReads[variant](raw);', 'const value = refused;']],
  },
  {
    name: 'shortcut',
    says: 'the other way round: every request goes through fetch and Yoga’s hooks',
    patches: [byYoga],
  },
  {
    name: 'shortcut and executor',
    says: 'the same, and graphql-js executes',
    patches: [
      byYoga,
      [
        'graphql/yoga.js',
        "import { createExecutor } from './executor/executor.js';",
        "import { execute as byGraphQLJS } from 'graphql';\nconst createExecutor = () => byGraphQLJS;",
      ],
    ],
  },
  {
    name: 'no __proto__',
    says: 'with the option of `npm start`',
    flags: ['--disable-proto=delete'],
  },
];

const root = new URL('../..', import.meta.url).pathname;
const chosen = compared.filter(({ name }) => name === 'all' || (values.only?.split(',').includes(name) ?? true));
const folder = createFolder();
/** @type {string[]} */
const copies = [];
/** @type {{ duty: Duty, entrant: import('./entrant.mjs').Entrant, cpuUs: number[] }[]} */
const running = [];
try {
  for (const duty of chosen) {
    const place = mkdtempSync(join(root, 'build.'));
    copies.push(place);
    cpSync(join(root, 'build'), place, { recursive: true });
    for (const [file, from, to] of duty.patches ?? []) patch(join(place, file), from, to);
    const server = {
      name: `duty-${running.length}`,
      label: duty.name,
      script: `../../${basename(place)}/main.js`,
      args: ['serve'],
      workloads: /** @type {const} */ (['preview']),
    };
    const flags = [...values.flags.split(' '), ...(duty.flags ?? [])];
    const connections = Number(values.connections);
    const entrant = await enter(server, { workload: 'preview', folder, flags, cpus: processors, connections });
    running.push({ duty, entrant, cpuUs: [] });
  }
  // The first round only warms up.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    // Whoever comes first finds the processor otherwise than those after it.
    const first = round % running.length;
    for (const one of [...running.slice(first), ...running.slice(0, first)]) {
      const { cpuUs, errors, firstError } = await one.entrant.measure(Number(values.seconds));
      if (errors > 0) throw new Error(`${one.duty.name}: ${firstError}`);
      if (round > 0) one.cpuUs.push(cpuUs);
    }
  }
} finally {
  for (const { entrant } of running) await entrant.leave();
  for (const place of copies) rmSync(place, { recursive: true });
  folder.remove();
}

const [all] = running;
const rows = running.map(({ duty, cpuUs }) => {
  const { median, min, max } = spread(cpuUs);
  const saved = spread(cpuUs.map((figure, round) => (all?.cpuUs[round] ?? NaN) - figure)).median;
  const difference = duty.name === 'all' ? '' : `${saved < 0 ? '+' : '-'}${Math.abs(saved).toFixed(0)}`;
  return `| ${duty.name} | ${duty.says} | ${median.toFixed(0)} [${min.toFixed(0)}-${max.toFixed(0)}] | ${difference} |`;
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

/** Replaces one place in a file. Throws where it is not there any more. */
function patch(/** @type {string} */ file, /** @type {string} */ from, /** @type {string} */ to) {
  const before = readFileSync(file, 'utf8');
  if (!before.includes(from)) throw new Error(`${file} has no \`${from}\` any more.`);
  writeFileSync(
    file,
    before.replace(from, () => to),
  );
}
