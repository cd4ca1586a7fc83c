import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultTimeouts } from '../../../src/http/server/server.js';
import { createScheduler } from '../../../src/lib/scheduler.js';
import { startServer, type TestServer } from '../../support/server.js';
import { createTestTelemetry, type TestTelemetry } from '../../support/telemetry.js';
import { until } from '../../support/until.js';

let s: TestServer;
let telemetry: TestTelemetry;
let release: () => void;
beforeEach(async () => {
  telemetry = createTestTelemetry();
  const { meter } = telemetry;
  // However slow the machine is, no request of these tests waits too long, and no connection is closed between two of them.
  const scheduler = createScheduler({ maxWaitMs: Infinity });
  const timeouts = { ...defaultTimeouts, idleMs: 60_000 };
  s = await startServer({}, { telemetry: { meter }, timeouts }, { scheduler }, { meter });
  await s.t.importKeys({ key_id: 'billing', org_id: 'acme' });
});
afterEach(async () => {
  release();
  await s.close();
});

/** Executes requests that always have more to do: each waits for its next time slice until they are released. */
function execute(requests: number): void {
  let isReleased = false;
  release = () => {
    isReleased = true;
  };
  const { scheduler } = s.t.app.services;
  const work = async () => {
    while (!isReleased) await scheduler.next();
  };
  for (let request = 0; request < requests; request += 1) void work();
}

const preview = () =>
  fetch(`${s.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...s.t.credentials },
    body: JSON.stringify({ query: '{ previewKey(input: { orgID: "acme" }) { keyHash } }' }),
  });
const update = () =>
  fetch(`${s.url}/svc/org/keys/billing`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...s.t.credentials },
    body: '{"alias":"changed"}',
  });
const authz = (keyID = 'billing', more: Record<string, string> = {}) =>
  fetch(`${s.url}/authz`, {
    headers: {
      'x-svc-authorization': s.t.service,
      'x-forwarded-method': 'GET',
      'x-forwarded-uri': '/invoices/7',
      'x-api-key': keyID,
      ...more,
    },
  });
const importPolicy = (policyID = 'gold') =>
  fetch(`${s.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...s.t.credentials },
    body: JSON.stringify({
      query: 'mutation ($id: String!) { putKeyPolicies(policies: [{ policyID: $id }], dryRun: false) { version } }',
      variables: { id: policyID },
    }),
  });
const waiting = async () => (await telemetry.series('keyfront_queue_length'))['queue="requests"'];

it('O-06 rejects every request with 503 and Retry-After while 500 wait for a time slice, and counts them', async () => {
  execute(500);
  for (const send of [preview, update, () => authz(), () => importPolicy()]) {
    const response = await send();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'UNAVAILABLE' });
  }
  expect((await fetch(`${s.url}/health`)).status).toBe(200);
  expect(await waiting()).toBeGreaterThanOrEqual(500);
  expect((await telemetry.series('keyfront_refused_total'))['reason="overload"']).toBe(4);
});

it('counts requests that wait for a time slice and those that wait to start as one queue', async () => {
  execute(400);
  let rejected = 0;
  const sent = Array.from({ length: 150 }, async () => {
    const { status } = await preview();
    if (status === 503) rejected += 1;
    return status;
  });
  // Background jobs of the service may wait for a time slice, too.
  await until(async () => rejected >= 50 && (await waiting()) === 500);
  release();
  expect(new Set(await Promise.all(sent))).toEqual(new Set([200, 503]));
  expect((await update()).status).toBe(200);
});

/** Sends requests while others wait, of which some are rejected. Returns the statuses. */
async function flood(send: (index: number) => Promise<Response>): Promise<number[]> {
  execute(400);
  let rejected = 0;
  const sent = Array.from({ length: 150 }, async (_, index) => {
    const response = await send(index);
    await response.arrayBuffer();
    if (response.status === 503) rejected += 1;
    return response.status;
  });
  await until(async () => rejected >= 50 && (await waiting()) === 500);
  release();
  const statuses = await Promise.all(sent);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  return statuses;
}

it('counts exactly the requests that a flood of /authz has permitted, and serves it again at once', async () => {
  await s.t.importKeys({ key_id: 'limited', org_id: 'acme', quota_max: 1000 });
  const statuses = await flood(() => authz('limited'));
  const permitted = statuses.filter((status) => status === 200).length;
  expect((await authz('limited', { 'x-forwarded-uri': '/' })).headers.get('x-key-remaining')).toBe(
    String(1000 - permitted - 1),
  );
});

it('stores exactly the policies whose import a flood has accepted, each whole and once', async () => {
  const statuses = await flood((index) => importPolicy(`p${index}`));
  const stored = await s.t.app.services.policies.currentSet();
  const accepted = statuses.flatMap((status, index) => (status === 200 ? [`p${index}`] : []));
  expect([...stored.policies.keys()].toSorted()).toEqual(accepted.toSorted());
  expect(stored.version).toBe(accepted.length);
  expect(await s.t.app.services.policies.verify()).toEqual([]);
});

it.each([
  ['a key of 20 KiB', `X-Api-Key: ${'x'.repeat(20_480)}`, 431],
  ['a target of 20 KiB', `X-Forwarded-Uri: /${'x'.repeat(20_480)}`, 431],
  ['3,000 headers', Array.from({ length: 3_000 }, (_, index) => `X-A${index}: b`).join('\r\n'), 431],
  ['a header without a colon', 'X-Api-Key billing', 400],
  ['a header with a control character', 'X-Api-Key: bil\u0000ling', 400],
  ['a header with a bare line feed', 'X-Api-Key: a\nX-Svc-Authorization: b', 400],
  ['a body of an endless length', 'Content-Length: 99999999999999999999', 400],
])('rejects a request to /authz with %s, and serves the next one', async (_, header, status) => {
  execute(0);
  const { port } = new URL(s.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const head = `GET /authz HTTP/1.1\r\nHost: x\r\nX-Svc-Authorization: ${s.t.service}\r\nX-Forwarded-Method: GET`;
  socket.write(`${head}\r\n${header}\r\n\r\n`);
  await once(socket, 'close');
  const text = Buffer.concat(chunks).toString('latin1');
  expect(text.split('\r\n')[0]).toContain(` ${status} `);
  expect(text).not.toContain(s.t.service);
  expect((await authz()).status).toBe(200);
});
