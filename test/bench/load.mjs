// A load generator: each connection sends its next request when it has received the response. Reads its job as JSON
// from standard input, and prints its figures as JSON.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ResponseReader } from './response-reader.mjs';
import { quantile } from './statistics.mjs';

/** @typedef {{ method: string, path: string, body: string }} Request */

/**
 * @typedef {object} Job
 * @property {string} url of the service
 * @property {Record<string, string | readonly string[]>} headers an array is a repeated header
 * @property {string} bodies path of a JSON array of bodies for POST, or of requests
 * @property {number} offset index of the first body
 * @property {string} good text that a successful response contains
 * @property {number} connections
 * @property {number} seconds
 */

const timeoutMs = 20_000;

const job = /** @type {Job} */ (JSON.parse(await text(process.stdin)));
const { hostname, port, pathname } = new URL(job.url);
const head = Object.entries(job.headers).flatMap(([name, value]) =>
  [value].flat().map((line) => `${name}: ${line}\r\n`),
);
const requests = JSON.parse(readFileSync(job.bodies, 'utf8')).map((/** @type {string | Request} */ request) => {
  const { method, path, body } =
    typeof request === 'string' ? { method: 'POST', path: pathname, body: request } : request;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${head.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
});

const found = { good: 0, errors: 0, broken: 0, inTime: 0, connections: 0, firstError: '' };
/** @type {number[]} */
const latencies = [];
let next = job.offset;
const start = performance.now();
const deadline = start + job.seconds * 1000;

/** Sends requests until the deadline, over a new connection whenever the server closes one. */
async function client() {
  while (performance.now() < deadline) {
    const responses = await requestAll();
    // Limits the rate of connections to a server that is down.
    if (responses === 0) await setTimeout(10);
  }
}

/** Sends requests over one connection until it ends. Resolves to the number of responses. */
function requestAll() {
  found.connections += 1;
  const socket = connect(Number(port), hostname);
  const reader = new ResponseReader();
  let responses = 0;
  let requested = NaN;
  const sendQuery = () => {
    requested = performance.now();
    if (requested >= deadline) {
      requested = NaN;
      socket.destroy();
    } else socket.write(requests[next++ % requests.length]);
  };
  socket.setNoDelay(true).setTimeout(timeoutMs);
  socket.on('connect', sendQuery);
  socket.on('data', (chunk) => {
    const response = reader.push(chunk);
    if (!response) return;
    const now = performance.now();
    latencies.push(now - requested);
    if (now < deadline) found.inTime += 1;
    requested = NaN;
    responses += 1;
    count(response);
    if (response.closes) socket.destroy();
    else sendQuery();
  });
  socket.on('timeout', () => socket.destroy());
  socket.on('error', () => {});
  return new Promise((resolve) =>
    socket.on('close', () => {
      // The effect of a request whose connection broke is unknown.
      if (!Number.isNaN(requested)) found.broken += 1;
      resolve(responses);
    }),
  );
}

/** A response is good if the operation succeeded: an error may also come with the status 200. */
function count(/** @type {{ status: number, body: Buffer }} */ { status, body }) {
  if (status === 200 && body.includes(job.good) && !body.includes('"errors"')) {
    found.good += 1;
    return;
  }
  found.errors += 1;
  found.firstError ||= `${status} ${body.toString('utf8').slice(0, 500)}`;
}

const cpu = process.cpuUsage();
await Promise.all(Array.from({ length: job.connections }, client));
const { user, system } = process.cpuUsage(cpu);
const p = (/** @type {number} */ share) => quantile(latencies, share);
const ownLoad = (user + system) / 1000 / (performance.now() - start);
const figures = { perSecond: found.inTime / job.seconds, p50Ms: p(0.5), p90Ms: p(0.9), p99Ms: p(0.99), ownLoad };
process.stdout.write(JSON.stringify({ ...found, ...figures }));
