// CPU time of the validation of a preview, by validator: `npm run build && node test/bench/validation.mjs`. One process
// measures all validators in interleaved rounds. Add `--disallow-code-generation-from-strings` before the script to
// measure zod without generated code.
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { fastValidators, PreviewInput } from '../../build/keys/definition/parse.js';
import { parseJSON } from '../../build/lib/json.js';
import { ownWorkloads } from './payload.mjs';
import { ratios, spread } from './statistics.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, ms: { type: 'string', default: '200' } },
});
const inputs = ownWorkloads.preview.bodies.map((body) => /** @type {any} */ (parseJSON(String(body))).variables.input);

/** @type {Record<string, (input: unknown) => unknown>} */
const validators = {
  'the fast validator': fastValidators.preview,
  zod: (input) => PreviewInput.parse(input),
};

for (const [name, validate] of Object.entries(validators)) {
  const invalid = inputs.find((input) => !isDeepStrictEqual({ ...validate(input) }, { ...PreviewInput.parse(input) }));
  if (invalid) throw new Error(`${name} returns another definition than zod.`);
}

/** Returns the CPU time for a definition in microseconds. */
function measure(/** @type {(input: unknown) => unknown} */ validate, /** @type {number} */ ms) {
  const start = process.cpuUsage();
  const end = performance.now() + ms;
  let count = 0;
  while (performance.now() < end) {
    for (const input of inputs) validate(input);
    count += inputs.length;
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

/** @type {Map<string, number[]>} */
const figures = new Map(Object.keys(validators).map((name) => [name, []]));
for (let round = -2; round < Number(values.rounds); round += 1) {
  for (const [name, validate] of Object.entries(validators)) {
    const us = measure(validate, Number(values.ms));
    if (round >= 0) figures.get(name)?.push(us);
  }
}
const base = figures.get('zod') ?? [];
console.log('| validated by | CPU µs per definition | × zod |\n|---|---|---|');
for (const [name, us] of figures) {
  const { median, min, max } = spread(us);
  console.log(
    `| ${name} | ${median.toFixed(1)} [${min.toFixed(1)}-${max.toFixed(1)}] | ${ratios(us, base)?.median.toFixed(2)} |`,
  );
}
