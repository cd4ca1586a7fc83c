// CPU time of our code and of a library, for a table in CONTRIBUTING: `npm run build && node test/bench/libraries.mjs`
import { parse, parseNumberAndBigInt } from 'lossless-json';
import { schema } from '../../build/graphql/schema/api-schema.js';
import { parseJSON, parseJSONCarefully, stringifyJSON } from '../../build/lib/json.js';
import { workloadsOf } from './payload.mjs';

const rounds = 5;

/** Returns the CPU time of a call in microseconds, the median of the rounds. */
async function microseconds(/** @type {number} */ calls, /** @type {(index: number) => unknown} */ work) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let index = 0; index < calls; index++) await work(index);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / calls);
  }
  return times.toSorted((a, b) => a - b)[rounds >> 1]?.toFixed(1);
}

const { preview } = workloadsOf(schema);
const bodies = preview.bodies;
const bodyOf = (/** @type {number} */ index) => bodies[index % bodies.length] ?? '';
const parsed = bodies.map((text) => parseJSON(text));
const lossless = (/** @type {string} */ text) => parse(text, undefined, { parseNumber: parseNumberAndBigInt });
console.log(`body of a preview, ${bodyOf(0).length} characters`);
console.table({
  'JSON.parse': await microseconds(5_000, (index) => JSON.parse(bodyOf(index))),
  parseJSON: await microseconds(5_000, (index) => parseJSON(bodyOf(index))),
  'parseJSONCarefully (its slow path)': await microseconds(5_000, (index) => parseJSONCarefully(bodyOf(index))),
  'lossless-json': await microseconds(5_000, (index) => lossless(bodyOf(index))),
  stringifyJSON: await microseconds(5_000, (index) => stringifyJSON(parsed[index % parsed.length])),
});
