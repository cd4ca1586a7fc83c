// Starts services, and sends load to several of them at once; see load.mjs.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { node, startServer } from './process.mjs';

const load = new URL('load.mjs', import.meta.url).pathname;
const main = new URL('../../dist/main.js', import.meta.url).pathname;
const document = new URL('capacity.md', import.meta.url).pathname;

/** Sends load from a separate process, and resolves to its figures. */
export async function sendLoad(
  /** @type {import('./load.mjs').Job} */ job,
  /** @type {string | undefined} */ cpus = undefined,
) {
  const child = node(cpus, [load], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify(job));
  return /** @type {any} */ (await json(/** @type {any} */ (child.stdout)));
}

/** Starts the service in production, with the V8 options of the benchmarks. */
export function startService(
  /** @type {string} */ name,
  /** @type {{ data: string, log: string, env?: Record<string, string>, args?: readonly string[], flags?: readonly string[], cpus?: string | undefined }} */
  { data, log, env = {}, args = [], flags = ['--max-semi-space-size=64'], cpus },
) {
  const server = { name, label: name, script: '../../dist/main.js', args: ['serve', ...args], workloads: [], env };
  return startServer(server, { data, log, flags, cpus });
}

/** Copies the keys of a data folder to a database server, with `migrate-store`. */
export function moveToServer(/** @type {string} */ data, /** @type {Record<string, string>} */ env) {
  const own = { PATH: process.env.PATH, KEYFRONT_DATA: data, ...env };
  execFileSync(process.execPath, [main, 'migrate-store'], { env: own, stdio: 'ignore' });
}

/**
 * Loads services at once, each with its share of the connections, and measures the CPU time per response.
 *
 * @param {readonly import('./process.mjs').Running[]} services
 * @param {Omit<import('./load.mjs').Job, 'url'> & { cpus?: string | undefined }} job
 * @param {{ cpuUs: () => number }} server the database server
 */
export async function loadTogether(services, { cpus, connections, offset, ...job }, server) {
  const cpuUs = () => services.reduce((sum, one) => sum + one.cpuUs(), 0);
  const before = { own: cpuUs(), server: server.cpuUs() };
  const own = Math.max(1, Math.floor(connections / services.length));
  const found = await Promise.all(
    services.map(({ url }, index) => sendLoad({ ...job, url, offset: offset + index * 400, connections: own }, cpus)),
  );
  const sum = (/** @type {(one: any) => number} */ of) => found.reduce((total, one) => total + of(one), 0);
  const responses = sum(({ good, errors }) => good + errors);
  return {
    responses,
    perSecond: sum(({ perSecond }) => perSecond),
    p50Ms: Math.max(...found.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...found.map(({ p99Ms }) => p99Ms)),
    errors: sum(({ errors, broken }) => errors + broken),
    firstError: found.map(({ firstError }) => firstError).find(Boolean) ?? '',
    cpuUs: (cpuUs() - before.own) / responses,
    serverUs: (server.cpuUs() - before.server) / responses,
  };
}

/** Writes a file of requests for each workload, which the load reads. */
export function writeWorkloads(
  /** @type {string} */ folder,
  /** @type {Record<string, { bodies: readonly unknown[] }>} */ workloads,
) {
  for (const [name, { bodies }] of Object.entries(workloads)) {
    writeFileSync(join(folder, name), JSON.stringify(bodies));
  }
}

/** Replaces the text between the comments `NAME` and `/NAME` of test/bench/capacity.md. */
export function writeToCapacity(/** @type {string} */ name, /** @type {string} */ text) {
  const block = new RegExp(`(<!-- ${name} -->\\n+).*?(\\n+<!-- /${name} -->)`, 's');
  const old = readFileSync(document, 'utf8');
  writeFileSync(
    document,
    old.replace(block, (_, begin, end) => `${begin}${text}${end}`),
  );
  execFileSync('npx', ['prettier', '--write', document], { stdio: 'ignore' });
}
