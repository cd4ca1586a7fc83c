import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOverloadLog } from '../../../src/http/server/rejection.js';
import { defaultTimeouts } from '../../../src/http/server/server.js';
import { startServer, type TestServer } from '../../support/server.js';

/*
 * OVERLOAD_CLIENTS=2000 OVERLOAD_MS=20000 is the full run. A thousand is twice the length of the queue: no processor starts
 * five hundred requests in the ten milliseconds that come before it.
 */
const clients = Number(process.env['OVERLOAD_CLIENTS'] ?? 1_000);
const milliseconds = Number(process.env['OVERLOAD_MS'] ?? 1_500);
const keys = Array.from({ length: 20 }, (_, index) => `load-${index}`);

interface Report {
  readonly counts: Readonly<Record<string, number>>;
  readonly acknowledged: readonly (readonly [key: string, version: number, alias: string])[];
  readonly withoutRetryAfter: readonly string[];
  readonly updates: object;
  readonly health: object;
}

/** After this, the server does not wait for the first updates any longer. */
const sendTimeoutMs = 60_000;

async function load(order: object): Promise<Report> {
  const allSent = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(new URL('load-client.mjs', import.meta.url), { workerData: { ...order, allSent } });
  try {
    await once(client, 'message');
    client.postMessage('send');
    expect(Atomics.wait(allSent, 0, 0, sendTimeoutMs), 'the first updates').not.toBe('timed-out');
    const [report] = (await once(client, 'message')) as [Report];
    return report;
  } finally {
    await client.terminate();
  }
}

/** What was acknowledged and is not there, or there and was not acknowledged. */
async function lost({ t }: TestServer, { acknowledged, counts }: Report): Promise<string[]> {
  const { store, ports } = t.app.services;
  const problems: string[] = [];
  let changes = 0;
  for (const key of keys) {
    const history = await store.historyOf(ports.hashKeyID(key));
    const aliases = new Map(
      history.map(({ versionAfter, changes }) => [
        versionAfter,
        changes.find(({ path }) => path[0] === 'alias')?.after,
      ]),
    );
    changes += history.length - 1;
    for (const [, version, alias] of acknowledged.filter(([of]) => of === key)) {
      if (aliases.get(version) !== alias) problems.push(`${alias} was acknowledged as version ${version} of ${key}`);
      aliases.delete(version);
    }
  }
  // A connection that broke may have changed something or not; everything else was clear.
  const unclear = Object.entries(counts).filter(([status]) => !/^(\/|200$|429$|503$)/.test(status));
  const most = acknowledged.length + unclear.reduce((sum, [, count]) => sum + count, 0);
  if (changes > most) problems.push(`${changes} changes were made, and ${most} may have been`);
  return problems;
}

/** As `lost`, after a short load on a mutant of the service. */
async function lostThrough(mutant: RequestListener): Promise<string[]> {
  const server = createServer(mutant).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const report = await load({ port, clients: 5, milliseconds: 1_000, keys, service: s.t.service });
  server.close();
  return lost(s, report);
}

let folder: string;
let s: TestServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-load-'));
  // Connections that wait until all clients are connected stay open, even on a busy machine.
  s = await startServer({ KEYFRONT_DATA: folder }, { timeouts: { ...defaultTimeouts, idleMs: 60_000 } });
  await s.t.importKeys(...keys.map((key_id) => ({ key_id, org_id: 'acme' })));
});
afterEach(async () => {
  await s.close();
  await rm(folder, { recursive: true });
});

describe(`the service under ${clients} concurrent updating clients`, () => {
  it(
    'O-06 serves what it can and rejects the rest with 503 and Retry-After, responds to health checks, and loses no acknowledged change',
    { timeout: 240_000 + 10 * milliseconds },
    async () => {
      const report = await load({ port: s.port, clients, milliseconds, keys, service: s.t.service });
      console.log(`overload: ${JSON.stringify({ ...report, acknowledged: report.acknowledged.length })}`);
      const statuses = Object.keys(report.counts);
      expect(statuses.filter((status) => !['200', '429', '503', '/health 200', '/ready 200'].includes(status))).toEqual(
        [],
      );
      expect(report.counts['200']).toBeGreaterThan(0);
      expect(report.counts['503']).toBeGreaterThan(0);
      expect(report.counts['/health 200']).toBeGreaterThan(0);
      expect(report.withoutRetryAfter).toEqual([]);
      expect(await lost(s, report)).toEqual([]);
    },
  );

  it('loses changes in a mutant that responds without a change, which this suite detects', async () => {
    let number = 0;
    const found = await lostThrough((request, response) => {
      number += 1;
      if (request.url?.startsWith('/svc') && number % 3 === 0) {
        request.resume();
        response.writeHead(200, { etag: '"2"' }).end();
      } else s.t.app.handle(request, response);
    });
    expect(found.join()).toMatch(/was acknowledged as version 2 of load-/);
  });

  it('writes rejected changes in a mutant, which this suite detects', async () => {
    let number = 0;
    const found = await lostThrough((request, response) => {
      number += 1;
      // The headers that are sent later have the status 503 in any case.
      if (request.url?.startsWith('/svc') && number % 3 === 0) {
        response.writeHead = () => {
          Reflect.deleteProperty(response, 'writeHead');
          return response.writeHead(503, { 'retry-after': '1' });
        };
      }
      s.t.app.handle(request, response);
    });
    expect(found.join()).toMatch(/changes were made/);
  });
});

it('logs an overload in two lines instead of one per rejection', () => {
  const lines: string[] = [];
  const overloaded = createOverloadLog(pino({}, { write: (line: string) => void lines.push(line) }));
  for (let number = 0; number < 1_000; number += 1) overloaded();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('overloaded: requests are rejected');
});
