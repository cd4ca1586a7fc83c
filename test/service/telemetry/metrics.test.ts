import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import { AppError } from '../../../src/lib/errors.js';
import { listen, type RequestListener } from '../../../src/http/server/server.js';
import { createLogger } from '../../../src/lib/log.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { temporaryFolder } from '../../support/folder.js';
import { exchange } from '../../support/server.js';
import { timersDueWithin, until } from '../../support/until.js';
import { createTestTelemetry, type TestTelemetry } from '../../support/telemetry.js';

let folder: string;
let telemetry: TestTelemetry;
let t: TestApp;
beforeEach(async () => {
  folder = await temporaryFolder();
  telemetry = createTestTelemetry();
  const { meter } = telemetry;
  t = await startOwnApp({ KEYFRONT_DATA: folder }, {}, { meter });
  await t.importKeys({ key_id: 'billing', org_id: 'acme', quota_max: 3 });
});

/** Makes every change of a key fail, as on a full disk. */
function breakStorage(): void {
  const other = new Database(join(folder, 'keyfront.db'));
  other.exec('ALTER TABLE history RENAME TO history_away');
  other.close();
}

const requests = async () => telemetry.series('keyfront_requests_total');
const named = (api: string, operation: string, verdict: string) =>
  `face="${api}",operation="${operation}",verdict="${verdict}"`;

describe('the name of a client', () => {
  const query = '{ orgKey(by: { keyID: "billing" }) { keyID definition { allowance } } }';
  const from = (name: string, header = 'apollographql-client-name') => t.graphql(query, {}, { [header]: name });

  it('is counted if it is configured; every other one is counted as other', async () => {
    await from('dashboard');
    await from('router', 'graphql-client-name');
    await from('router', 'x-graphql-client-name');
    await from('x'.repeat(500));
    await from('unknown');
    await t.graphql(query);
    expect(await telemetry.series('keyfront_client_requests_total')).toEqual({
      'client="dashboard",operation="orgKey"': 1,
      'client="router",operation="orgKey"': 2,
      'client="other",operation="orgKey"': 2,
      'client="none",operation="orgKey"': 1,
    });
  });

  it('is counted with every field and argument that it uses', async () => {
    for (const _ of ['first', 'from the cache', 'without Yoga']) await from('dashboard');
    await from('router');
    await t.graphql('query ($i: PreviewKeyInput) { previewKey(input: { tags: [] }) { keyHash } }');
    await t.graphql('{ previewKey(input: { tags: [] }) { keyHash } }');
    const withoutCredential = { authorization: '', 'x-svc-authorization': '' };
    await t.graphql('{ previewKey(input: { alias: "a" }) { keyHash } }', {}, withoutCredential);
    const used = await telemetry.series('keyfront_field_usage_total');
    expect(used).toMatchObject({
      'client="dashboard",field="KeyDefinition.allowance"': 3,
      'client="router",field="KeyDefinition.allowance"': 1,
      'client="dashboard",field="Query.orgKey(by:)"': 3,
      'client="none",field="PreviewKeyInput.tags"': 1,
    });
    expect(used).not.toHaveProperty(['client="none",field="PreviewKeyInput.alias"']);
    // A second scrape adds nothing.
    expect(await telemetry.series('keyfront_field_usage_total')).toEqual(used);
  });

  it('is logged as it was sent, truncated and printable', async () => {
    await from(`my\u{9b}client${'x'.repeat(500)}`);
    const client = String(t.logLines('"client"')[0]?.['client']);
    expect(client).toMatch(/^my[ -~\ufffd]+client?x+/);
    expect(client.length).toBeLessThan(80);
  });
});

describe('keyfront_requests_total', () => {
  it('counts each request once, by API, operation and outcome', async () => {
    await t.graphql('{ previewKey(input: {alias: "a", orgID: "acme"}) { keyHash } }');
    await t.graphql('{ previewKey(input: {rate: -5}) { keyHash } }');
    await t.graphql('mutation { updateOrgKey(keyID: "billing", input: {orgID: "acme"}) { version } }');
    await t.graphql('mutation { updateOrgKey(keyID: "unknown", input: {orgID: "acme"}) { version } }');
    await t.preview({ alias: 'a', org_id: 'acme' });
    await t.preview({ rate: -5 });
    await t.preview({}, { authorization: 'Bearer nonsense' });
    await t.update('billing', { org_id: 'acme' });
    await t.update('billing', { org_id: 'acme' }, '', { 'if-match': '"99"' });
    await t.send('/svc/org/keys/billing', { headers: { 'x-svc-authorization': t.service } });
    await t.send('/svc/org/keys', { method: 'PATCH' });
    await t.send('/no/such/path');
    await t.send('/health');
    await t.send('/ready');
    await t.send('/', { headers: { accept: 'text/html' } });
    expect(await requests()).toEqual({
      [named('graphql', 'previewKey', 'ok')]: 1,
      [named('graphql', 'previewKey', 'INVALID')]: 1,
      [named('graphql', 'updateOrgKey', 'ok')]: 1,
      [named('graphql', 'updateOrgKey', 'NOT_FOUND')]: 1,
      [named('rest', 'previewKey', 'ok')]: 1,
      [named('rest', 'previewKey', 'INVALID')]: 1,
      [named('rest', 'previewKey', 'UNAUTHENTICATED')]: 1,
      [named('rest', 'updateOrgKey', 'ok')]: 1,
      [named('rest', 'updateOrgKey', 'CONFLICT')]: 1,
      [named('rest', 'orgKey', 'ok')]: 1,
      [named('rest', 'other', 'INVALID')]: 1,
      [named('other', 'other', 'NOT_FOUND')]: 1,
      [named('health', 'other', 'ok')]: 2,
      [named('other', 'other', 'ok')]: 1,
    });
  });

  it('names an operation by its one root field, however often selected, and `several` for more', async () => {
    await t.graphql(
      '{ a: orgKey(by: { keyID: "billing" }) { version } b: orgKey(by: { keyID: "billing" }) { version } __typename }',
    );
    await t.graphql('query ($id: ID!) { ...F } fragment F on Query { orgKey(by: { keyID: $id }) { version } }', {
      id: 'billing',
    });
    await t.graphql('{ orgKey(by: { keyID: "billing" }) { version } orgKeys { totalCount } }');
    await t.graphql('{ __schema { queryType { name } } }');
    await t.graphql('{ noSuchField }');
    await t.graphql('{ not a document');
    expect(await requests()).toEqual({
      [named('graphql', 'orgKey', 'ok')]: 2,
      [named('graphql', 'several', 'ok')]: 1,
      [named('graphql', 'other', 'ok')]: 1,
      [named('graphql', 'other', 'INVALID')]: 2,
    });
  });

  it('counts an internal error, for every other error of the response', async () => {
    breakStorage();
    const result = await t.graphql(`{ wrong: orgKey(by: { keyID: "a/b" }) { version }
      billing: orgKey(by: { keyID: "billing" }) { history { edges { node { version } } } } }`);
    expect(result.text).toMatch(/INVALID.*INTERNAL/);
    expect(await requests()).toEqual({ [named('graphql', 'orgKey', 'INTERNAL')]: 1 });
  });
});

describe('the number of metric series', () => {
  it('S-03 is the same after a thousand names from clients', async () => {
    const count = async () =>
      (await telemetry.exposition()).split('\n').filter((line) => /^keyfront_/.test(line)).length;
    const sendQuery = async (name: string) => {
      await t.graphql(`query ${name} { ${name}: orgKey(by: { keyID: "${name}" }) { version } }`);
      await t.graphql(`{ ${name} }`);
      await t.update(name, { org_id: name, alias: name });
      await t.send(`/${name}`);
      await t.send(`/svc/org/keys/${name}/quota?amount=${name}`, { method: 'POST' });
      await t.send('/svc/org/keys', { method: 'GET', headers: { 'x-svc-authorization': name } });
      await t.send(`/svc/org/keys?org_id=${name}`, { headers: { 'x-svc-authorization': t.service } });
      await t.preview({ alias: name }, { authorization: `Bearer ${name}`, 'x-request-id': name });
    };
    await sendQuery('first');
    await timersDueWithin(60);
    const before = await count();
    for (let index = 0; index < 125; index += 1) await sendQuery(`chosen${index}`);
    await timersDueWithin(60);
    expect(await count()).toBe(before);
    expect(await telemetry.exposition()).not.toMatch(/chosen|first|acme|billing/);
  });

  it('S-03 stays the same for an unlisted name of a part, which becomes `other`', async () => {
    const completed = { requestID: 'r', route: '/graphql', verdict: 'ok', status: 200, seconds: 0.001 } as const;
    telemetry.meter.recordResponse({ ...completed, operation: 'a-key-identifier' });
    telemetry.meter.recordResponse({ ...completed, operation: 'other', route: '/svc/a-key-identifier' });
    telemetry.meter.authenticationFailed('a-key-identifier', 'a-key-identifier');
    telemetry.meter.consumed('a-key-identifier');
    expect(await telemetry.exposition()).not.toContain('a-key-identifier');
  });
});

describe('the other counters', () => {
  it('count each invalid credential, by its kind and by a reason that clients do not receive', async () => {
    const revoked = await t.issue('service');
    await t.app.services.credentials.revoke(revoked.id, t.clock.now);
    await t.send('/svc/org/keys', { headers: { 'x-svc-authorization': revoked.secret } });
    await t.send('/svc/org/keys', { headers: { 'x-svc-authorization': createToken('service') } });
    await t.preview({}, { authorization: `Bearer ${t.service}` });
    await t.preview({}, { authorization: 'Basic nonsense' });
    // Not for Keyfront, and not needed.
    await t.graphql('{ orgKeys { totalCount } }', {}, { authorization: 'Basic nonsense' });
    await timersDueWithin(60);
    expect(await telemetry.series('keyfront_authentication_failures_total')).toEqual({
      'kind="service",reason="revoked"': 1,
      'kind="service",reason="unknown"': 1,
      'kind="management",reason="other kind"': 1,
      'kind="management",reason="malformed"': 1,
    });
  });

  it('count the outcomes of quota consumption', async () => {
    const take = () => t.graphql('mutation { consumeOrgQuota(keyID: "billing") { allowed } }');
    for (let times = 0; times < 5; times += 1) await take();
    await t.update('billing', { org_id: 'acme', is_inactive: true });
    await t.send('/svc/org/keys/billing/quota', { method: 'POST', headers: { 'x-svc-authorization': t.service } });
    expect(await telemetry.series('keyfront_quota_verdicts_total')).toEqual({
      'verdict="allowed"': 3,
      'verdict="QUOTA_EXCEEDED"': 2,
      'verdict="INACTIVE"': 1,
      'verdict="EXPIRED"': 0,
    });
  });

  it('count requests rejected before execution: by limits, form and overload', async () => {
    let begun = 0;
    let waiting: Promise<Readonly<Record<string, number>>> | undefined;
    const slow: RequestListener = (_request, response) => {
      begun += 1;
      for (const end = performance.now() + (begun === 1 ? 50 : 0); performance.now() < end;);
      if (begun === 10) waiting = telemetry.series('keyfront_queue_length');
      response.end();
    };
    const { scheduler } = t.app.services;
    const server = await listen(slow, {
      host: '127.0.0.1',
      port: 0,
      log: createLogger('silent'),
      scheduler,
      telemetry,
    });
    const port = Number(new URL(server.url).port);
    await t.graphql(`{ ${'a: __typename '.repeat(400)} ${'x'.repeat(16_000)} }`);
    await exchange(port, 'GET /a//b HTTP/1.1\r\nHost: x\r\n\r\n');
    await exchange(port, 'this is no HTTP\r\n\r\n');
    // All of them come while the first is worked at, and are more than may wait.
    const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const { text } = await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(900) + last);
    await server.stop();
    const busy = text.match(/HTTP\/1.1 503/g)?.length ?? 0;
    expect(busy).toBeGreaterThan(0);
    expect((await waiting)?.['queue="requests"']).toBeGreaterThan(0);
    expect(await telemetry.series('keyfront_refused_total')).toEqual({
      'reason="limits"': 1,
      'reason="malformed"': 1,
      'reason="unreadable"': 1,
      'reason="overload"': busy,
    });
  });
});

describe('the metrics of storage', () => {
  it('contain the changes of a group commit, and its duration', async () => {
    const { valueOf } = telemetry;
    const before = (await valueOf('keyfront_commit_batch_size_sum')) ?? 0;
    await Promise.all(Array.from({ length: 20 }, (_, rate) => t.update('billing', { org_id: 'acme', rate })));
    expect(await valueOf('keyfront_commit_batch_size_sum')).toBe(before + 20);
    const count = await valueOf('keyfront_commit_batch_size_count');
    expect(count).toBeLessThan(20);
    expect(await valueOf('keyfront_commit_duration_seconds_count')).toBe(count);
    expect(await valueOf('keyfront_commit_duration_seconds_sum')).toBeGreaterThan(0);
  });

  it('count a disk failure, and not a rejected change', async () => {
    const failures = () => telemetry.valueOf('keyfront_commit_failures_total');
    const reject = () => {
      throw new AppError('CONFLICT', 'Not now.');
    };
    await expect(t.app.services.store.update('a hash', reject)).rejects.toThrow('Not now.');
    expect(await failures()).toBe(0);
    breakStorage();
    await t.update('billing', { org_id: 'acme', alias: 'changed' });
    expect(await failures()).toBe(1);
  });

  it('contain the size of the write-ahead log', async () => {
    const bytes = async () => (await telemetry.valueOf('keyfront_wal_bytes')) ?? 0;
    const before = await bytes();
    for (let rate = 0; rate < 5; rate += 1) await t.update('billing', { org_id: 'acme', rate });
    expect(await bytes()).toBeGreaterThan(before);
  });
});

describe('the gauges', () => {
  it('contain the lengths of the queues', async () => {
    const lines = async () => telemetry.series('keyfront_queue_length');
    const none = { 'queue="requests"': 0, 'queue="passwords"': 0, 'queue="commits"': 0, 'queue="uses"': 0 };
    await t.app.flushUses();
    expect(await lines()).toEqual(none);
    const uses = async () => (await lines())['queue="uses"'];
    await t.graphql('mutation { verifyKey(keyID: "billing") { code } }');
    expect(await uses()).toBe(1);
    await t.app.flushUses();
    expect(await uses()).toBe(0);
    const hashes = Array.from({ length: 6 }, (_, index) =>
      t.update('billing', { org_id: 'acme', basic_auth_data: { password: `p${index}` } }),
    );
    // Two are hashed at a time.
    const waiting = async () => (await lines())['queue="passwords"'] ?? 0;
    await until(async () => (await waiting()) > 0);
    await Promise.all(hashes);
    expect(await waiting()).toBe(0);
    const writes = Array.from({ length: 3 }, (_, index) =>
      t.app.services.store.update(`missing${index}`, () => undefined),
    );
    expect((await lines())['queue="commits"']).toBe(3);
    await Promise.all(writes);
    expect((await lines())['queue="commits"']).toBe(0);
  });

  it('contain the state of /ready', async () => {
    const ready = () => telemetry.valueOf('keyfront_ready');
    expect(await ready()).toBe(1);
    t.app.drain();
    expect((await t.send('/ready')).status).toBe(503);
    expect(await ready()).toBe(0);
  });

  it('contain the lag of the event loop', async () => {
    await telemetry.exposition();
    await timersDueWithin(50);
    for (const end = performance.now() + 150; performance.now() < end;);
    // That of the histogram is among them.
    await timersDueWithin(50);
    expect(await telemetry.valueOf('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(0.1);
  });

  it('contain the duration of requests from their arrival', async () => {
    await t.graphql('{ orgKey(by: { keyID: "billing" }) { version } }');
    const sums = await telemetry.series('keyfront_request_duration_seconds_sum');
    expect(Object.keys(sums)).toEqual(['face="graphql",operation="orgKey"']);
    expect(Object.values(sums)[0]).toBeGreaterThan(0);
    expect(Object.values(sums)[0]).toBeLessThan(60);
  });
});
