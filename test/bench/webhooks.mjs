// Events per second to a receiver on loopback that responds at once, on each engine:
// npm run build && node test/bench/webhooks.mjs [--against dist/main.js of another build]
// The events, one of each key, are in the database when the service starts. Two builds run in turn: compare the ratios.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { dropSchema, makeSchema } from './in-process.mjs';
import { startPostgres } from './postgres.mjs';
import { startServer } from './process.mjs';
import { ratios, spread } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    events: { type: 'string', default: '2000' },
    against: { type: 'string' },
  },
});
const events = Number(values.events);
const own = new URL('../../dist/main.js', import.meta.url).pathname;
const builds = [...(values.against === undefined ? [] : [values.against]), own];
const engines = ['SQLite', 'PostgreSQL'];

const folder = mkdtempSync(join(tmpdir(), 'keyfront-bench-webhooks-'));
const keysFile = join(folder, 'keys.jsonl');
writeFileSync(keysFile, Array.from({ length: events }, (_, n) => `{"key_id":"k${n}","org_id":"acme"}\n`).join(''));
/** @type {Record<string, number[]>} */
const rates = {};
const postgres = await startPostgres();
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const engine of engines) {
      for (const main of builds) (rates[`${engine} ${main}`] ??= []).push(await measure(engine, main, round));
    }
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true });
}
for (const engine of engines) {
  for (const main of builds) {
    const found = rates[`${engine} ${main}`] ?? [];
    const { median, min, max } = spread(found);
    const ratio = ratios(found, rates[`${engine} ${builds[0]}`]);
    stdout.write(
      `${engine}, ${main}: ${Math.round(median)} events a second [${Math.round(min)}-${Math.round(max)}], ${ratio?.median.toFixed(2)} times the first [${ratio?.min.toFixed(2)}-${ratio?.max.toFixed(2)}]\n`,
    );
  }
}

/** Returns the events per second from the first message to the last. */
async function measure(/** @type {string} */ engine, /** @type {string} */ main, /** @type {number} */ round) {
  const name = `${engine}-${builds.indexOf(main)}-${round}`;
  const data = join(folder, name);
  const schema = `bench_${Date.now()}`;
  const inSchema = engine === 'PostgreSQL' ? await makeSchema(postgres.url, schema) : {};
  /** @type {Set<string>} */
  const received = new Set();
  let beganMs = 0;
  let endedMs = 0;
  const receiver = createServer((request, response) => {
    beganMs ||= performance.now();
    request.resume();
    request.on('end', () => {
      received.add(String(request.headers['webhook-id']));
      response.writeHead(204).end();
      if (received.size < events) return;
      endedMs = performance.now();
      receiver.emit('complete');
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const keyfront = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, [main, ...args], {
      env: { PATH: env['PATH'], KEYFRONT_DATA: data, ...inSchema },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  try {
    keyfront('credentials', 'issue', '--kind', 'service', '--label', 'bench');
    keyfront('webhooks', 'add', '--to', `http://127.0.0.1:${port}/`);
    keyfront('keys', 'import', keysFile);
    const complete = once(receiver, 'complete');
    const service = await startServer(
      { name, label: '', script: main, args: ['serve'], env: { KEYFRONT_WEBHOOKS_TO: 'loopback' }, workloads: [] },
      { data, log: join(folder, `${name}.log`), flags: [], cpus: undefined, more: inSchema },
    );
    const failed = once(service.child, 'exit').then(() => Promise.reject(new Error(`The service of ${name} ended.`)));
    await Promise.race([complete, failed]);
    failed.catch(() => undefined);
    await service.stop();
    return events / ((endedMs - beganMs) / 1_000);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
    if (engine === 'PostgreSQL') await dropSchema(postgres.url, schema);
  }
}
