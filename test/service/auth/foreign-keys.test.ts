import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { scopes, type Scope } from '../../../src/keys/key.js';
import { startApp, startOwnApp, type TestApp } from '../../support/app.js';
import { describeConfigurations, makeOwnPlace } from '../../support/engines.js';
import { hashOf, rowIDOf } from '../../support/factories.js';
import { sendRequest } from '../../support/responses.js';
import { redisSettings, testRedis, unlessMissing } from '../../support/redis.js';

const redis = testRedis();
let t: TestApp;
let service: string;
async function startWithKeys(settings: Record<string, string>): Promise<void> {
  t = await startApp(settings);
  await t.importKeys(
    { key_id: 'own', org_id: 'acme' },
    { key_id: 'foreign', org_id: 'globex', alias: 'x'.repeat(100), quota_max: 5 },
    { key_id: 'deleted', org_id: 'globex' },
  );
  await t.update('foreign', { alias: 'y', quota_max: 5 });
  await sendRequest(t, 'DELETE', '/svc/org/keys/deleted');
  service = (await t.issue('service', { orgID: 'acme', scopes: Object.keys(scopes) as Scope[] })).secret;
}

type Attempt = readonly [method: string, target: string, body?: string, headers?: Record<string, string>];

/** The response, and the statements that found it. */
async function workFor(...[method, target, body, headers = {}]: Attempt) {
  const prototype = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Database.Statement;
  const statements: string[] = [];
  const spies = (['get', 'all', 'run', 'iterate'] as const).map((name) => {
    const original = Reflect.get(prototype, name) as (...values: unknown[]) => unknown;
    return vi.spyOn(prototype, name).mockImplementation(function (this: Database.Statement, ...values: unknown[]) {
      const found = original.apply(this, values);
      const isFound = name === 'get' ? found !== undefined : Array.isArray(found) && found.length > 0;
      // The service looks for changes of other processes at any time.
      if (/\b(keys|history)\b/.test(this.source)) statements.push(`${name} ${this.source} ${isFound}`);
      return found;
    });
  });
  const all = {
    'x-svc-authorization': service,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  };
  const response = await t.send(target, { method, headers: all, ...(body !== undefined && { body }) });
  spies.forEach((spy) => spy.mockRestore());
  const text = response.text.replace(/"request_?ID":"[^"]*"/gi, '');
  const shown = [...response.headers].filter(([name]) => name !== 'x-request-id');
  return { status: response.status, headers: shown, text, statements };
}

const graphql =
  (query: string) =>
  (keyID: string): Attempt => [
    'POST',
    '/graphql',
    JSON.stringify({ query: query.replaceAll('$id', JSON.stringify(keyID)) }),
  ];
const update = (args: string) => graphql(`mutation { updateOrgKey(keyID: $id, ${args}) { version } }`);
const patch = (args: string) => graphql(`mutation { patchOrgKey(keyID: $id, ${args}) { version } }`);
const byHash = (query: string) => (keyID: string) => graphql(query)(hashOf(keyID));
const put =
  (body: string, query = '', headers: Record<string, string> = {}) =>
  (keyID: string): Attempt => ['PUT', `/svc/org/keys/${keyID}${query}`, body, headers];
const patchREST =
  (body: string, query = '', headers: Record<string, string> = {}) =>
  (keyID: string): Attempt => ['PATCH', `/svc/org/keys/${keyID}${query}`, body, headers];

function suite(settings: () => Promise<Record<string, string>>): void {
  beforeAll(async () => startWithKeys(await settings()));
  afterAll(async () => t.close());

  it.each<[string, (keyID: string) => Attempt]>([
    ['GET', (keyID) => ['GET', `/svc/org/keys/${keyID}`]],
    ['PUT', put('{}')],
    ['PUT with a reset', put('{}', '?reset_quota=1')],
    ['PUT with a reset beyond 64 bits', put('{"quota_renewal_rate":9007199254740991,"quota_max":1}', '?reset_quota=1')],
    ['PUT with its organization', put('{"org_id":"globex"}')],
    ['PUT with that of the credential', put('{"org_id":"acme"}')],
    ['PUT with a hash type', put('{"basic_auth_data":{"hash_type":"argon2id"}}')],
    ['PUT with a password', put('{"basic_auth_data":{"password":"p"}}')],
    ['PUT with its version', put('{}', '', { 'if-match': '"2"' })],
    ['PUT with another version', put('{}', '', { 'if-match': '"7"' })],
    ['PUT with a malformed version', put('{}', '', { 'if-match': 'nonsense' })],
    ['PUT with a malformed definition', put('{"rate":"x"}')],
    ['updateOrgKey with a malformed definition', update('input: { rate: "x" }')],
    ['updateOrgKey', update('input: {}')],
    ['updateOrgKey with a reset', update('input: {}, resetQuota: true')],
    ['updateOrgKey with its organization', update('input: { orgID: "globex" }')],
    ['updateOrgKey with that of the credential', update('input: { orgID: "acme" }')],
    ['updateOrgKey with its version', update('input: {}, expectedVersion: 2')],
    ['updateOrgKey with another version', update('input: {}, expectedVersion: 7')],
    ['PATCH', patchREST('{}')],
    ['PATCH with a reset', patchREST('{}', '?reset_quota=1')],
    ['PATCH with its organization', patchREST('{"org_id":"globex"}')],
    ['PATCH with an invalid value', patchREST('{"rate":"x"}')],
    ['PATCH with a password', patchREST('{"basic_auth_data":{"password":"p"}}')],
    ['PATCH with its version', patchREST('{}', '', { 'if-match': '"2"' })],
    ['PATCH with another version', patchREST('{}', '', { 'if-match': '"7"' })],
    ['patchOrgKey', patch('patch: {}')],
    ['patchOrgKey with a malformed patch', patch('patch: { rate: "x" }')],
    ['patchOrgKey with incomplete smoothing', patch('patch: { smoothing: { enabled: true } }')],
    ['patchOrgKey with another version', patch('patch: {}, expectedVersion: 7')],
    ['patchOrgKey by hash', byHash('mutation { patchOrgKey(keyHash: $id, patch: {}) { version } }')],
    ['updateOrgKey by hash', byHash('mutation { updateOrgKey(keyHash: $id, input: {}) { version } }')],
    ['deleteOrgKey by hash', byHash('mutation { deleteOrgKey(keyHash: $id) { version } }')],
    ['previewOrgKeyPatch', graphql('{ previewOrgKeyPatch(keyID: $id, patch: {}) { version } }')],
    ['previewOrgKeyRevert', graphql('{ previewOrgKeyRevert(keyID: $id, toVersion: 1) { version } }')],
    ['DELETE', (keyID) => ['DELETE', `/svc/org/keys/${keyID}`]],
    ['restore', (keyID) => ['POST', `/svc/org/keys/${keyID}/restore`]],
    ['rotate', (keyID) => ['POST', `/svc/org/keys/${keyID}/rotate`]],
    ['cancel-rotation', (keyID) => ['POST', `/svc/org/keys/${keyID}/cancel-rotation`]],
    ['quota', (keyID) => ['POST', `/svc/org/keys/${keyID}/quota`]],
    ['usage', (keyID) => ['GET', `/svc/org/keys/${keyID}/usage`]],
    ['orgKey', graphql('{ orgKey(by: { keyID: $id }) { version } }')],
    ['deliver', (keyID) => ['GET', `/svc/org/keys/${keyID}/deliver`]],
    ['deliver by hash', (keyID) => ['GET', `/svc/keys/deliver?key_hash=${hashOf(keyID)}`]],
    ['deliverKey', graphql('{ deliverKey(by: { keyID: $id }) { version data } }')],
    ['deliverKey by hash', byHash('{ deliverKey(by: { keyHash: $id }) { version data } }')],
    [
      'entities',
      (keyID) =>
        graphql('{ _entities(representations: [{__typename: "OrgKey", keyHash: $id}]) { __typename } }')(hashOf(keyID)),
    ],
    ['previewOrgKeyUpdate', graphql('{ previewOrgKeyUpdate(keyID: $id, input: {}) { version } }')],
    ['revertOrgKey', graphql('mutation { revertOrgKey(keyID: $id, toVersion: 1) { version } }')],
    ['consumeOrgQuota', graphql('mutation { consumeOrgQuota(keyID: $id) { allowed } }')],
    ['verifyKey', graphql('mutation { verifyKey(keyID: $id) { code } }')],
    ['verify', (keyID) => ['POST', '/svc/keys/verify', `{"requests":[{"key_id":"${keyID}"}]}`]],
  ])('does the same work for %s', async (operation, request) => {
    // The first request of an operation prepares its document.
    await workFor(...request('unknown'));
    const unknown = await workFor(...request('unknown'));
    // What is malformed is rejected before the key is looked up.
    expect(unknown.statements.length > 0).toBe(!operation.includes('malformed'));
    for (const keyID of ['foreign', 'deleted']) expect(await workFor(...request(keyID))).toEqual(unknown);
    if (operation === 'GET') expect((await workFor(...request('own'))).statements).not.toEqual(unknown.statements);
  });

  it('returns CONFLICT with one message from createOrgKey, also when the other key is deleted', async () => {
    for (const keyID of ['foreign', 'deleted']) {
      const { status, text } = await workFor('POST', `/svc/org/keys/${keyID}`, '{"org_id":"acme"}');
      expect(status).toBe(409);
      expect(text).toContain('The key exists already; it is not overwritten.');
    }
  });
}

const name = 'A-08 a credential of another organization, for a key that exists and one that does not';
describe(name, () => suite(() => Promise.resolve({})));
describe.skipIf('missing' in redis)(`${name}, with counters in Redis${unlessMissing(redis)}`, () =>
  suite(() => redisSettings(redis)),
);

describeConfigurations('A-08 a damaged key of another organization', (engine) => {
  it('is consumed from like a key that does not exist', async () => {
    const place = await makeOwnPlace(engine);
    const own = await startOwnApp(place.env);
    await own.importKeys(
      { key_id: 'changed', org_id: 'globex', quota_max: 5 },
      { key_id: 'lost', org_id: 'globex', quota_max: 5 },
    );
    await place.tamper(
      `UPDATE keys SET quota_used = 1, mac = sealed_key_id WHERE id = ${rowIDOf(hashOf('changed'))}`,
      `DELETE FROM keys WHERE id = ${rowIDOf(hashOf('lost'))}`,
    );
    const { secret: ofAcme } = await own.issue('service', { orgID: 'acme' });
    const consume = (keyID: string, secret: string) =>
      own.send(`/svc/org/keys/${keyID}/quota`, { method: 'POST', headers: { 'x-svc-authorization': secret } });
    const unknown = await consume('unknown', ofAcme);
    expect(unknown.status).toBe(404);
    for (const keyID of ['changed', 'lost']) {
      // At the same time, and so found by one read if the credentials were the same.
      const [foreign, permitted] = await Promise.all([consume(keyID, ofAcme), consume(keyID, own.service)]);
      expect(foreign).toMatchObject({
        status: 404,
        body: { ...unknown.body, request_id: expect.any(String) as string },
      });
      expect(permitted.status).toBe(500);
    }
  });
});
