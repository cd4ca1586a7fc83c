import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { buildMain } from '../../support/build.mjs';
import { start, type Running } from '../../support/process.js';

const count = 40;
const maxRounds = 12;

interface Attempt {
  readonly path: string;
  readonly init: RequestInit;
}

let main: string;
let folder: string;
let service: string;
let server: Running | undefined;
beforeAll(async () => {
  [main, folder] = await Promise.all([buildMain(), mkdtemp(join(tmpdir(), 'keyfront-idempotency-'))]);
  const t = await startApp({ KEYFRONT_DATA: folder });
  const deleted = Array.from({ length: count }, (_, index) => ({ key_id: `old-${index}`, org_id: 'acme' }));
  await t.importKeys({ key_id: 'counted', org_id: 'acme', quota_max: 1_000_000 }, ...deleted);
  service = (await t.issue('service')).secret;
  await t.close();
}, 120_000);
afterAll(async () => {
  server?.signal('SIGKILL');
  await rm(folder, { recursive: true });
});

/** A creation without an identifier, a consumption and a deletion for each index. */
const attempts = Array.from({ length: count }, (_, index): Attempt[] => {
  const headers = { 'content-type': 'application/json', 'idempotency-key': `"key-${index}"` };
  const query = `mutation { createOrgKey(input: {orgID: "acme", alias: "${index}"}, idempotencyKey: "key-${index}") { key version } }`;
  return [
    { path: '/graphql', init: { method: 'POST', headers, body: JSON.stringify({ query }) } },
    { path: '/svc/org/keys/counted/quota', init: { method: 'POST', headers, body: '{"amount":1}' } },
    { path: `/svc/org/keys/old-${index}`, init: { method: 'DELETE', headers } },
  ];
}).flat();

async function send({ url }: Running, { path, init }: Attempt): Promise<string> {
  const headers = { ...(init.headers as Record<string, string>), 'x-svc-authorization': service };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  expect([path, response.status, text.includes('errors')]).toEqual([path, 200, false]);
  return text;
}

it('has each effect once and returns its first result, when the process is killed between and during requests', async () => {
  const responses = new Map<Attempt, string>();
  for (let round = 1; responses.size < attempts.length; round += 1) {
    const running = await start(main, folder);
    server = running;
    // Each round but the last ends with a kill after a few responses, while other requests are under way.
    let isKilled = false;
    const killAt = round < maxRounds ? responses.size + 3 + round : Infinity;
    const pending = attempts.filter((attempt) => !responses.has(attempt));
    await Promise.allSettled(
      pending.map(async (attempt) => {
        const text = await send(running, attempt);
        if (isKilled) return;
        responses.set(attempt, text);
        if (responses.size < killAt) return;
        isKilled = true;
        running.signal('SIGKILL');
      }),
    );
    running.signal('SIGKILL');
    await running.exited;
    expect(round).toBeLessThanOrEqual(maxRounds);
  }
  const last = await start(main, folder);
  server = last;
  for (const attempt of attempts) expect(await send(last, attempt)).toBe(responses.get(attempt));
  const query = '{ orgKeys { totalCount } orgKey(by: { keyID: "counted" }) { quota { used } } }';
  const headers = { 'content-type': 'application/json', 'x-svc-authorization': service };
  const response = await fetch(`${last.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  expect(await response.json()).toEqual({
    data: { orgKeys: { totalCount: 1 + count }, orgKey: { quota: { used: count } } },
  });
}, 180_000);
