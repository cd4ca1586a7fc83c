import { beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../src/credentials/token.js';
import type { Scope } from '../../../src/keys/key.js';
import { startOwnApp, type TestApp, type TestResponse } from '../../support/app.js';
import { makeOwnCommandLine } from '../../support/cli.js';
import { codeOf, dataOf } from '../../support/responses.js';
import { startOwnServer } from '../../support/server.js';
import { expectNoChange, stateOf } from '../../support/state.js';
import { connectSocket } from '../../support/websocket.js';

const header = 'x-keyfront-actor';
const historyOf =
  '{ orgKey(by: { keyID: "k1" }) { history { edges { node { version actor { label assertedName } } } } } }';
const update = 'mutation { updateOrgKey(keyID: "k1", input: { alias: "Changed" }) { version } }';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'k1', org_id: 'acme' });
});

/** The names of the actors in the history, oldest first. */
async function names(): Promise<unknown[]> {
  const { history } = dataOf<{ history: { edges: { node: { actor: { assertedName: string | null } } }[] } }>(
    await t.graphql(historyOf),
  );
  return history.edges.map(({ node }) => node.actor.assertedName);
}

const credentialWith = async (...scopes: Scope[]) => ({
  'x-svc-authorization': (await t.issue('service', { scopes })).secret,
});
const graphqlAs = (name: string, headers: Record<string, string> = {}, query = update) =>
  t.graphql(query, {}, { ...headers, [header]: name });
const restAs = (name: string, headers: Record<string, string> = {}) =>
  t.update('k1', { org_id: 'acme', alias: 'By REST' }, '', { ...headers, [header]: name });
const issuesOf = ({ body }: TestResponse) =>
  (body['issues'] ?? (body['errors'] as { extensions: { issues: unknown } }[])[0]?.extensions.issues) as unknown[];

describe('the header X-Keyfront-Actor', () => {
  it('names in the history whom a credential with the scope changes a key for, in both APIs', async () => {
    const headers = await credentialWith('read', 'update', 'actor');
    expect((await graphqlAs('Ana%20P%C3%A9rez', headers)).body).not.toHaveProperty('errors');
    expect((await restAs('bob@example.com', headers)).status).toBe(200);
    await t.update('k1', { org_id: 'acme', alias: 'Without' }, '', headers);
    await t.update('k1', { org_id: 'acme', alias: 'Empty' }, '', { ...headers, [header]: '' });
    expect(await names()).toStrictEqual([null, 'Ana Pérez', 'bob@example.com', null, null]);
    const { audit } = await stateOf(t, 'k1');
    expect(audit[1]?.actor).toStrictEqual({
      credentialID: expect.stringMatching(/^cred_/),
      label: 'test service',
      assertedName: 'Ana Pérez',
    });
  });

  it('may be sent by a credential without restrictions, and names every key of a bulk change', async () => {
    await t.importKeys({ key_id: 'k2', org_id: 'acme' });
    const bulk =
      'mutation { updateOrgKeys(filter: { orgID: "acme" }, patch: { alias: "Bulk" }, dryRun: false) { items { error { code } } } }';
    await graphqlAs('Ana', {}, bulk);
    for (const keyID of ['k1', 'k2']) expect((await stateOf(t, keyID)).audit[1]?.actor.assertedName).toBe('Ana');
  });

  it('is in the audit log beside the credential', async () => {
    await graphqlAs('Ana');
    expect(t.logLines('"event":"change"').at(-1)).toMatchObject({
      operation: 'updateOrgKey',
      verdict: 'accepted',
      actor: { label: 'test service', assertedName: 'Ana' },
    });
  });

  it('is FORBIDDEN for a change without the scope, which changes nothing', async () => {
    const headers = await credentialWith('read', 'create', 'update', 'delete', 'consume', 'router');
    for (const send of [graphqlAs, restAs]) {
      const response = await expectNoChange(t, () => send('Ana', headers));
      expect(codeOf(response)).toBe('FORBIDDEN');
      expect(response.text).toContain('The header X-Keyfront-Actor needs a credential with the scope `actor`.');
      expect(t.logLines('"event":"change"').at(-1)).toMatchObject({ verdict: 'rejected', code: 'FORBIDDEN' });
    }
  });

  it('is ignored by operations that change nothing', async () => {
    const headers = { ...(await credentialWith('read')), [header]: '%%%' };
    expect((await t.graphql(historyOf, {}, headers)).body).not.toHaveProperty('errors');
    const dryRun = '{ previewOrgKeyUpdate(keyID: "k1", input: { alias: "x" }) { version } }';
    expect((await t.graphql(dryRun, {}, headers)).body).not.toHaveProperty('errors');
    expect((await t.send('/svc/org/keys/k1', { headers })).status).toBe(200);
    expect((await t.preview({}, { [header]: '%%%' })).status).toBe(200);
  });

  it('permits nothing by its scope alone', async () => {
    const response = await expectNoChange(t, async () => graphqlAs('Ana', await credentialWith('actor')));
    expect(response.text).toContain('The credential does not have the scope `update`.');
  });

  it.each([
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['several scripts', encodeURIComponent('山田 Ана'), '山田 Ана'],
    ['an emoji', encodeURIComponent('🔑'), '🔑'],
    ['a comma', 'P%C3%A9rez%2C%20Ana', 'Pérez, Ana'],
    ['a plus sign', 'ana+keys@example.com', 'ana+keys@example.com'],
    ['spaces around', '%20Ana%20', 'Ana'],
  ])('accepts %s', async (_what, sent, stored) => {
    expect((await restAs(sent)).status).toBe(200);
    expect((await names()).at(-1)).toBe(stored);
  });

  it.each([
    ['a malformed escape', 'Ana%', 'must be percent-encoded UTF-8'],
    ['Latin-1', '%E9', 'must be percent-encoded UTF-8'],
    ['a lone surrogate', '%ED%A0%80', 'must be percent-encoded UTF-8'],
    ['bytes that are not encoded', 'P\u00e9rez', 'must be percent-encoded UTF-8'],
    ['two values', 'Ana, Bob', 'must be sent once, with a comma in the name as %2C'],
    ['a line break', 'Ana%0ABob', 'must be a name of at most 100 printable characters'],
    ['NUL', 'Ana%00', 'must be a name of at most 100 printable characters'],
    ['the separator of names in the store', 'dashboard%1FAna', 'must be a name of at most 100 printable characters'],
    ['a terminal escape', '%1B%5B31mAna', 'must be a name of at most 100 printable characters'],
    ['a mark that reverses text', 'Ana%E2%80%AE', 'must be a name of at most 100 printable characters'],
    ['a line separator', 'Ana%E2%80%A8', 'must be a name of at most 100 printable characters'],
    ['spaces only', '%20%20', 'must be a name of at most 100 printable characters'],
    ['101 characters', 'x'.repeat(101), 'must be a name of at most 100 printable characters'],
    ['64 kB', 'x'.repeat(65_536), 'must be a name of at most 100 printable characters'],
    ['a credential', createToken('service'), 'must be a name, and contains a credential'],
  ])('is INVALID with %s, which changes nothing and is quoted nowhere', async (_what, sent, message) => {
    for (const send of [graphqlAs, restAs]) {
      const response = await expectNoChange(t, () => send(sent));
      expect(codeOf(response)).toBe('INVALID');
      expect(issuesOf(response)).toStrictEqual([{ path: 'X-Keyfront-Actor', code: 'MALFORMED_ARGUMENT', message }]);
      if (sent.length > 6) expect(response.text + t.logs()).not.toContain(sent);
    }
  });

  it('is a part of the request that an idempotency key stands for', async () => {
    const create = (name: string) =>
      t.send('/svc/org/keys', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-svc-authorization': t.service,
          'idempotency-key': 'once',
          [header]: name,
        },
        body: '{"org_id":"acme"}',
      });
    const first = await create('Ana');
    expect(first.status).toBe(200);
    expect((await create('Ana')).body['key_hash']).toBe(first.body['key_hash']);
    expect(codeOf(await create('Bob'))).toBe('INVALID');
  });
});

describe('a WebSocket', () => {
  it('takes the header from its connectionParams', async () => {
    const { t: served, url } = await startOwnServer();
    await served.importKeys({ key_id: 'k1', org_id: 'acme' });
    const socket = await connectSocket(url, { 'X-Svc-Authorization': served.service, 'X-Keyfront-Actor': 'Ana' });
    expect(await socket.request(update)).toMatchObject({ payload: { data: { updateOrgKey: { version: 2 } } } });
    expect((await stateOf(served, 'k1')).audit[1]?.actor.assertedName).toBe('Ana');
    socket.socket.terminate();
  });
});

describe('keyfront keys --actor at a service', () => {
  it('states the name by the header, which the credential must be permitted to', async () => {
    const { t: served, url } = await startOwnServer();
    await served.importKeys({ key_id: 'k1', org_id: 'acme' });
    const c = await makeOwnCommandLine();
    const file = await c.file('k1.json', '{"alias":"New"}');
    const run = (secret: string, ...args: string[]) =>
      c.keyfront(['keys', ...args, '--url', url], { KEYFRONT_SERVICE_CREDENTIAL: secret });
    const put = await run(served.service, 'put', 'k1', file, '--actor', 'Ana Pérez, ops');
    expect([put.code, put.stderr]).toStrictEqual([0, '']);
    const { out } = await run(served.service, 'history', 'k1');
    expect(out).toMatch(/version 2 {2}\S+ {2}update {2}by Ana Pérez, ops, asserted by test service \(cred_\w+\)/);
    const { secret } = await served.issue('service', { scopes: ['read', 'update'] });
    const rejected = await run(secret, 'reset', 'k1', '--actor', 'Ana');
    expect(rejected.code).toBe(1);
    expect(rejected.stderr).toContain('needs a credential with the scope `actor`');
    const malformed = await run(served.service, 'reset', 'k1', '--actor', 'A\nB');
    expect([malformed.code, malformed.stderr]).toStrictEqual([
      2,
      '--actor must be a name of at most 100 printable characters.\n',
    ]);
  });
});
