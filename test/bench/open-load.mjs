// A load generator with an open loop: requests are sent at a fixed rate, however long the responses take, as by clients
// that do not wait for each other. Reads its job as JSON from standard input, and prints its figures as JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ResponseReader } from './response-reader.mjs';
import { quantile } from './statistics.mjs';

/**
 * @typedef {object} OpenJob
 * @property {string} url of the service
 * @property {Record<string, string | readonly string[]>} headers an array is a repeated header
 * @property {string} bodies path of a JSON array of bodies for POST, or of requests
 * @property {number} offset index of the first body
 * @property {string} good text that a successful response contains
 * @property {number} perSecond requests to send
 * @property {number} seconds
 */

const job = /** @type {OpenJob} */ (JSON.parse(await text(process.stdin)));
const { hostname, port, pathname } = new URL(job.url);
const head = Object.entries(job.headers).flatMap(([name, value]) =>
  [value].flat().map((line) => `${name}: ${line}\r\n`),
);
/** @type {Buffer[]} */
const requests = JSON.parse(readFileSync(job.bodies, 'utf8')).map(
  (/** @type {string | import('./load.mjs').Request} */ request) => {
    const { method, path, body } =
      typeof request === 'string' ? { method: 'POST', path: pathname, body: request } : request;
    return Buffer.from(
      `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${head.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  },
);

/** How long to wait for the last responses. */
const maxWaitMs = 60_000;
/** A service that does not respond would use up the ports of the machine. */
const maxConnections = 9_000;

const found = { sent: 0, notSent: 0, broken: 0, other: 0, withoutRetryAfter: 0, firstOther: '', lateMs: 0 };
/** The time of each response since its request was due, in milliseconds. */
const accepted = /** @type {number[]} */ ([]);
const rejected = /** @type {number[]} */ ([]);
/** @type {ReturnType<typeof openConnection>[]} */
const idle = [];
let open = 0;
let waiting = 0;
let next = job.offset;

function openConnection() {
  open += 1;
  const socket = connect(Number(port), hostname).setNoDelay(true);
  const reader = new ResponseReader();
  /** When the request without a response was due. */
  let dueMs = NaN;
  let isClosed = false;
  const connection = {
    get isClosed() {
      return isClosed;
    },
    send(/** @type {number} */ atMs) {
      dueMs = atMs;
      waiting += 1;
      socket.write(requests[next++ % requests.length] ?? '');
    },
    close: () => socket.destroy(),
  };
  socket.on('data', (chunk) => {
    const response = reader.push(chunk);
    if (!response) return;
    count(response, performance.now() - dueMs);
    dueMs = NaN;
    waiting -= 1;
    if (response.closes) socket.destroy();
    else idle.push(connection);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    open -= 1;
    isClosed = true;
    if (Number.isNaN(dueMs)) return;
    waiting -= 1;
    found.broken += 1;
  });
  return connection;
}

function count(
  /** @type {{ status: number, body: Buffer, retryAfter: string | undefined }} */ { status, body, retryAfter },
  /** @type {number} */ ms,
) {
  if (status === 200 && body.includes(job.good) && !body.includes('"errors"')) accepted.push(ms);
  else if (status === 503) {
    rejected.push(ms);
    if (retryAfter === undefined) found.withoutRetryAfter += 1;
  } else {
    found.other += 1;
    found.firstOther ||= `${status} ${body.toString('utf8').slice(0, 500)}`;
  }
}

/** The connection that was used last, so that the others can end when there are too many. */
function idleConnection() {
  for (let connection = idle.pop(); connection; connection = idle.pop()) if (!connection.isClosed) return connection;
  return open < maxConnections ? openConnection() : undefined;
}

const cpu = process.cpuUsage();
const startMs = performance.now();
const endMs = startMs + job.seconds * 1000;
for (let due = 0; performance.now() < endMs;) {
  const end = Math.min(performance.now(), endMs);
  // A machine that is too busy for the load generator would make its service look slow.
  found.lateMs = Math.max(found.lateMs, end - (startMs + (due * 1000) / job.perSecond));
  for (; startMs + (due * 1000) / job.perSecond <= end; due += 1) {
    const connection = idleConnection();
    if (connection) connection.send(startMs + (due * 1000) / job.perSecond);
    found[connection ? 'sent' : 'notSent'] += 1;
  }
  await setTimeout(2);
}
const { user, system } = process.cpuUsage(cpu);
const ownLoad = (user + system) / 1000 / (performance.now() - startMs);
for (const lastMs = performance.now() + maxWaitMs; waiting > 0 && performance.now() < lastMs;) await setTimeout(10);
const times = (/** @type {number[]} */ values) => ({
  count: values.length,
  p50Ms: quantile(values, 0.5),
  p99Ms: quantile(values, 0.99),
  maxMs: quantile(values, 1),
});
const figures = { accepted: times(accepted), rejected: times(rejected), without: waiting, ownLoad };
process.stdout.write(JSON.stringify({ ...found, ...figures }), () => process.exit());
