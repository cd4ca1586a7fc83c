/*
 * A closed loop of clients in a thread of its own, so that it does not take the time of the server's event loop: each sends
 * an update, waits for the response, and sends the next. It returns what it saw, such as the acknowledged changes.
 *
 * The first updates arrive at the same time, however fast the machine is: all clients connect, the server's thread blocks
 * until each has sent its update, and then finds them all.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { port, clients, milliseconds, keys, service, allSent } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity });

function send(method, path, headers, body, { onSent = () => {}, how = agent } = {}) {
  const began = performance.now();
  return new Promise((resolve) => {
    const waitUntilIdle = (result) => resolve({ ...result, ms: performance.now() - began });
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: how }, (response) => {
      response.resume();
      response.on('error', () => waitUntilIdle({ status: 'broken' }));
      response.on('end', () => waitUntilIdle({ status: response.statusCode, headers: response.headers }));
    });
    sent.on('error', (error) => waitUntilIdle({ status: error.code }));
    sent.on('finish', onSent);
    sent.end(body);
  });
}

const connecting = Array.from({ length: clients }, () => send('GET', '/health', {}));
const notConnected = (await Promise.all(connecting)).find(({ status }) => status !== 200);
if (notConnected) throw new Error(`A client cannot connect: ${notConnected.status}`);
parentPort.postMessage('connected');
await once(parentPort, 'message');

let sending = clients;
const until = performance.now() + milliseconds;
/** On a machine that is busy with other work, all updates of the first seconds may have waited for too long. */
const untilServed = until + 60_000;
const counts = {};
const acknowledged = [];
const withoutRetryAfter = [];
const times = { updates: [], health: [] };
let isOver = false;

function countSent() {
  sending -= 1;
  if (sending > 0) return;
  Atomics.store(allSent, 0, 1);
  Atomics.notify(allSent, 0);
}

async function client(number) {
  for (let turn = 0; performance.now() < (acknowledged.length > 0 ? until : untilServed); turn += 1) {
    const key = keys[number % keys.length];
    const alias = `${number}-${turn}`;
    const body = `{"alias":"${alias}"}`;
    const headers = { 'content-type': 'application/json', 'x-svc-authorization': service };
    const onSent = turn === 0 ? countSent : undefined;
    const { status, headers: completed, ms } = await send('PUT', `/svc/org/keys/${key}`, headers, body, { onSent });
    counts[status] = (counts[status] ?? 0) + 1;
    if (status === 200) acknowledged.push([key, Number(completed.etag.replaceAll('"', '')), alias]);
    if (status === 200) times.updates.push(ms);
    if (status === 503 && completed['retry-after'] === undefined) withoutRetryAfter.push(alias);
    // As Retry-After states, but without its whole second, so that the load continues.
    if (status === 503) await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
  }
}

async function watchHealth() {
  const own = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver) {
    for (const path of ['/health', '/ready']) {
      const { status, ms } = await send('GET', path, {}, undefined, { how: own });
      counts[`${path} ${status}`] = (counts[`${path} ${status}`] ?? 0) + 1;
      times.health.push(ms);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  own.destroy();
}

const watching = watchHealth();
await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
isOver = true;
await watching;
agent.destroy();

function figures(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { count: list.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

parentPort.postMessage({
  counts,
  acknowledged,
  withoutRetryAfter,
  updates: figures(times.updates),
  health: figures(times.health),
});
