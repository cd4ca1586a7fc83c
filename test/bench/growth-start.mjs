import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { hashOf } from './growth-keys.mjs';
import { startServer } from './process.mjs';
import { spread } from './statistics.mjs';
import { sendRequest } from './verify.mjs';

const starts = 5;
const main = new URL('../../dist/main.js', import.meta.url).pathname;
/** Keeps the first start from purging the deleted keys. */
const more = { KEYFRONT_RESTORE_DAYS: '3650' };

/** Measures the time from a process start to its first correct response, and its memory, with a warm page cache. */
export async function startFigures(/** @type {string} */ data, /** @type {number} */ size) {
  const issue = ['credentials', 'issue', '--kind', 'service', '--label', 'bench'];
  const env = { PATH: process.env.PATH, KEYFRONT_DATA: data };
  const credential = execFileSync(process.execPath, [main, ...issue], { env, encoding: 'utf8', stdio: 'pipe' }).trim();
  const headers = { 'content-type': 'application/json', 'x-svc-authorization': credential };
  const query = `{ orgKey(by: { keyHash: "${hashOf(size / 2)}" }) { keyHash version } }`;
  const listening = [];
  const completed = [];
  const memory = [];
  for (let start = 0; start < starts; start += 1) {
    const server = { name: 'keyfront', label: '', script: '../../dist/main.js', args: ['serve'], workloads: [] };
    const log = join(data, 'bench.log');
    const running = await startServer(server, { data, log, flags: [], cpus: undefined, more });
    const { response } = await sendRequest(running.url, headers, JSON.stringify({ query }));
    if (response.data.orgKey?.keyHash !== hashOf(size / 2)) throw new Error('The key in the middle is not found.');
    completed.push(performance.now() - running.began);
    listening.push(running.listeningMs);
    memory.push(running.memoryMiB());
    await running.stop();
  }
  return {
    'start, ms until it listens': figureOf(listening),
    'start, ms until the first correct response': figureOf(completed),
    'start, MiB after the first response': figureOf(memory),
  };
}

function figureOf(/** @type {readonly number[]} */ values) {
  const { median, min, max } = spread(values);
  return { median, text: `${Math.round(median)} [${Math.round(min)}-${Math.round(max)}]` };
}
