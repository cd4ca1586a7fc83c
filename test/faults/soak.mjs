// Serves for long at half of what the machine can do, and watches what must not grow: memory, handles, the write-ahead log.
// Run `npm run build` first; then `node test/faults/soak.mjs [MINUTES [MUTANT]]` (60). It prints a sample every half a minute,
// the slopes at the end, and ends with exit code 1 where one is too steep: with `1 process/leaks`, an injected bug that it must detect.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildMain } from '../support/build.mjs';

const minutes = Number(process.argv[2] ?? 60);
const mutant = process.argv[3];
const [writers, keys] = [8, 200];
const sampleEveryMs = Math.min(30_000, minutes * 3_000);
/** What starts up and fills its caches grows for a while; it is left out of the slopes. */
const warmUpShare = 0.25;

/** What may grow by how much in an hour. Short runs are noisier, and are given more. */
const allowance = Math.sqrt(Math.max(1, 60 / minutes));
const limits = { rssMiB: 64 * allowance, heapMiB: 8 * allowance, handles: 4 * allowance, walMiB: 16 * allowance };
const largestLogMiB = 64;

const folder = mkdtempSync(join(tmpdir(), 'keyfront-soak-'));
const data = join(folder, 'data');
const env = { PATH: process.env.PATH, KEYFRONT_DATA: data, PORT: '0', LOG_LEVEL: 'warn' };
const main = mutant ? await buildMain(mutant) : new URL('../../dist/main.js', import.meta.url).pathname;
const keyfront = (...args) =>
  execFileSync(process.execPath, [main, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const lines = Array.from(
  { length: keys },
  (_, index) => `{"key_id":"k${index}","org_id":"acme","quota_max":1000000000}\n`,
);
writeFileSync(join(folder, 'keys.jsonl'), lines.join(''));
keyfront('keys', 'import', join(folder, 'keys.jsonl'));
const service = keyfront('credentials', 'issue', '--kind', 'service', '--label', 'soak');
const management = keyfront('credentials', 'issue', '--kind', 'management', '--label', 'soak');

// The process reports its heap after a collection, for each line of input.
const probe = join(folder, 'probe.mjs');
writeFileSync(
  probe,
  `process.stdin.on('data', () => { globalThis.gc(); process.stderr.write('heap ' + process.memoryUsage().heapUsed + '\\n'); });
   process.stdin.unref();`,
);
const child = spawn(process.execPath, ['--expose-gc', '--import', probe, main, 'serve'], { env, stdio: 'pipe' });
const port = await new Promise((resolve, reject) => {
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
    const found = /listens on http:\S+:(\d+)/.exec(out);
    if (found) resolve(Number(found[1]));
  });
  child.once('exit', () => reject(new Error(`the service did not start: ${out}`)));
});
let heap;
let output = '';
child.stderr.on('data', (chunk) => {
  output += chunk;
  const found = [...output.matchAll(/^heap (\d+)$/gm)].at(-1);
  if (found) heap = Number(found[1]);
  output = output
    .split('\n')
    .filter((line) => !line.startsWith('heap '))
    .join('\n')
    .slice(-10_000);
});
async function heapMiB() {
  heap = undefined;
  child.stdin.write('?\n');
  while (heap === undefined) await wait(20);
  return heap / 2 ** 20;
}

const agent = new Agent({ keepAlive: true });
const statuses = {};
let completed = 0;
function send(method, path, headers, body) {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      port,
      method,
      path,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    };
    const sending = request(options, (response) => {
      response.resume();
      response.on('end', () => {
        statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
        completed += 1;
        resolve();
      });
    });
    sending.on('error', reject);
    sending.end(text);
  });
}
const svc = { 'x-svc-authorization': service };
const all = { ...svc, authorization: `Bearer ${management}` };
let count = 0;
/** Two updates, a read of a history, a preview and a consumption, through both faces. */
function next() {
  count += 1;
  const key = `k${(count * 7) % keys}`;
  const update = { alias: `soak ${count}`, tags: [`t${count % 50}`], quota_max: 1_000_000_000 };
  switch (count % 5) {
    case 0:
      return send('PUT', `/svc/org/keys/${key}`, svc, update);
    case 1:
      return send('POST', '/graphql', all, {
        query: 'mutation ($id: ID!, $input: UpdateKeyInput!) { updateOrgKey(keyID: $id, input: $input) { version } }',
        variables: { id: key, input: { alias: update.alias, tags: update.tags, quotaMax: 1_000_000_000 } },
      });
    case 2:
      return send('POST', '/graphql', all, {
        query: `{ orgKey(by: { keyID: "${key}" }) { version definition { alias tags } } }`,
      });
    case 3:
      return send('POST', '/api/keys/preview', all, { alias: `soak ${count}`, org_id: 'acme' });
    default:
      return send('POST', `/svc/org/keys/${key}/quota`, svc, { amount: 1 });
  }
}

/** Runs the writers for so long, each `pauseMs` after its response. Returns the responses per second. */
async function load(milliseconds, perSecond) {
  const [from, before] = [performance.now(), completed];
  const until = from + milliseconds;
  const writer = async (number) => {
    // At a rate, each writer has its own moments, independently of slow responses.
    let due = from + (number / (perSecond ?? 1)) * 1000;
    while (performance.now() < until) {
      if (perSecond !== undefined) {
        if (due > performance.now()) await wait(due - performance.now());
        due = Math.max(due + (writers / perSecond) * 1000, performance.now() - 1000);
      }
      await next();
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, number) => writer(number)));
  return ((completed - before) / (performance.now() - from)) * 1000;
}

const connections = () =>
  [agent.sockets, agent.freeSockets].flatMap((pool) => Object.values(pool).flat()).filter((socket) => !socket.destroyed)
    .length;
const mebibytes = (file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20;
async function sample(atMinutes) {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return {
    minutes: atMinutes,
    rssMiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    heapMiB: await heapMiB(),
    // Beside the connections that we hold ourselves, which come and go.
    handles: readdirSync(`/proc/${child.pid}/fd`).length - connections(),
    walMiB: mebibytes(join(data, 'keyfront.db-wal')),
    databaseMiB: mebibytes(join(data, 'keyfront.db')),
  };
}
const rounded = (figures) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 100) / 100]));

/** Least squares; in an hour. */
function slopeOf(samples, name) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(samples.map((one) => one.minutes)), mean(samples.map((one) => one[name]))];
  const above = samples.reduce((sum, one) => sum + (one.minutes - x) * (one[name] - y), 0);
  const below = samples.reduce((sum, one) => sum + (one.minutes - x) ** 2, 0);
  return below === 0 ? 0 : (above / below) * 60;
}

const capacity = await load(Math.min(10_000, minutes * 10_000));
console.log(
  `capacity: ${Math.round(capacity)} requests a second with ${writers} clients; half of it for ${minutes} minutes`,
);
const samples = [];
const began = performance.now();
while (performance.now() - began < minutes * 60_000) {
  await load(sampleEveryMs, capacity / 2);
  samples.push(await sample((performance.now() - began) / 60_000));
  console.log(JSON.stringify(rounded(samples.at(-1))));
}
agent.destroy();
child.kill('SIGTERM');
const code = await new Promise((resolve) => child.once('exit', resolve));
const judged = samples.filter((one) => one.minutes >= minutes * warmUpShare);
const names = Object.keys(limits);
const slopes = Object.fromEntries(names.map((name) => [name, slopeOf(judged, name)]));
const largestLog = Math.max(...samples.map(({ walMiB }) => walMiB));
const problems = [
  ...names.filter((name) => slopes[name] > limits[name]).map((name) => `${name} grows`),
  ...(largestLog > largestLogMiB ? [`the write-ahead log came to ${Math.round(largestLog)} MiB`] : []),
  ...Object.keys(statuses)
    .filter((status) => !/^2|^429$|^503$/.test(status))
    .map((status) => `${statuses[status]} responses of ${status}`),
  ...(code === 0 ? [] : [`the service ended with exit code ${code}`]),
];
console.log(`requests: ${completed}, by status ${JSON.stringify(statuses)}`);
console.log(`slopes in an hour: ${JSON.stringify(rounded(slopes))}; limits: ${JSON.stringify(rounded(limits))}`);
try {
  console.log(
    `keyfront check: ${execFileSync(process.execPath, [main, 'check'], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })}ok`,
  );
} catch {
  problems.push('keyfront check finds damage');
}
if (output.trim() !== '') console.log(`output of the service: ${output.trim()}`);
console.log(problems.length === 0 ? 'PASSED' : `FAILED: ${problems.join('; ')}`);
rmSync(folder, { recursive: true });
process.exitCode = problems.length === 0 ? 0 : 1;
