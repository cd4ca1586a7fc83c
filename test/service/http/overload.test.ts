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
const waiting = async () => (await telemetry.series('keyfront_queue_length'))['queue="requests"'];

it('O-06 rejects every request with 503 and Retry-After while 500 wait for a time slice, and counts them', async () => {
  execute(500);
  for (const send of [preview, update]) {
    const response = await send();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'UNAVAILABLE' });
  }
  expect((await fetch(`${s.url}/health`)).status).toBe(200);
  expect(await waiting()).toBeGreaterThanOrEqual(500);
  expect((await telemetry.series('keyfront_refused_total'))['reason="overload"']).toBe(2);
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
