import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';

let t: TestApp;
let service: string;
beforeAll(async () => {
  t = await startApp();
  await t.importKeys(
    { key_id: 'own', org_id: 'acme' },
    { key_id: 'foreign', org_id: 'globex', alias: 'x'.repeat(100), quota_max: 5 },
    { key_id: 'gone', org_id: 'globex' },
  );
  await t.update('foreign', { alias: 'y', quota_max: 5 });
  await t.send('/svc/org/keys/gone', { method: 'DELETE', headers: { 'x-svc-authorization': t.service } });
  service = (await t.issue('service', { orgID: 'acme' })).secret;
});
afterAll(async () => t.close());

/** The response, and the statements that found it. */
async function workFor(method: string, target: string, body?: string) {
  const prototype = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Database.Statement;
  const statements: string[] = [];
  const spies = (['get', 'all', 'run', 'iterate'] as const).map((name) => {
    const original = Reflect.get(prototype, name) as (...values: unknown[]) => unknown;
    return vi.spyOn(prototype, name).mockImplementation(function (this: Database.Statement, ...values: unknown[]) {
      const found = original.apply(this, values);
      const isFound = name === 'get' ? found !== undefined : Array.isArray(found) && found.length > 0;
      // The service looks for changes of other processes at any time.
      if (/\b(keys|audit)\b/.test(this.source)) statements.push(`${name} ${this.source} ${isFound}`);
      return found;
    });
  });
  const headers = { 'x-svc-authorization': service, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const response = await t.send(target, { method, headers, ...(body !== undefined && { body }) });
  spies.forEach((spy) => spy.mockRestore());
  const text = response.text.replace(/"request_?ID":"[^"]*"/gi, '');
  return { status: response.status, text, statements };
}

const graphql = (query: string) => (keyID: string) =>
  ['POST', '/graphql', JSON.stringify({ query: query.replaceAll('$id', JSON.stringify(keyID)) })] as const;

describe('A-08 a credential of another organisation, for a key that exists and one that does not', () => {
  it.each<[string, (keyID: string) => readonly [string, string, string?]]>([
    ['GET', (keyID) => ['GET', `/svc/org/keys/${keyID}`]],
    ['PUT', (keyID) => ['PUT', `/svc/org/keys/${keyID}`, '{}']],
    ['PUT with a password', (keyID) => ['PUT', `/svc/org/keys/${keyID}`, '{"basic_auth_data":{"password":"p"}}']],
    ['DELETE', (keyID) => ['DELETE', `/svc/org/keys/${keyID}`]],
    ['restore', (keyID) => ['POST', `/svc/org/keys/${keyID}/restore`]],
    ['quota', (keyID) => ['POST', `/svc/org/keys/${keyID}/quota`]],
    ['orgKey', graphql('{ orgKey(by: { keyID: $id }) { version } }')],
    [
      'entities',
      (keyID) =>
        graphql('{ _entities(representations: [{__typename: "OrgKey", keyHash: $id}]) { __typename } }')(hashOf(keyID)),
    ],
    ['previewOrgKeyUpdate', graphql('{ previewOrgKeyUpdate(keyID: $id, input: {}) { version } }')],
    ['revertOrgKey', graphql('mutation { revertOrgKey(keyID: $id, toVersion: 1) { version } }')],
    ['consumeOrgQuota', graphql('mutation { consumeOrgQuota(keyID: $id) { allowed } }')],
  ])('does the same work for %s', async (_operation, request) => {
    // The first request of an operation prepares its document.
    await workFor(...request('unknown'));
    const unknown = await workFor(...request('unknown'));
    expect(unknown.statements.length).toBeGreaterThan(0);
    for (const keyID of ['foreign', 'gone']) expect(await workFor(...request(keyID))).toEqual(unknown);
    if (_operation === 'GET') expect((await workFor(...request('own'))).statements).not.toEqual(unknown.statements);
  });

  it('returns CONFLICT with one message from createOrgKey, also when the other key is deleted', async () => {
    for (const keyID of ['foreign', 'gone']) {
      const { status, text } = await workFor('POST', `/svc/org/keys/${keyID}`, '{"org_id":"acme"}');
      expect(status).toBe(409);
      expect(text).toContain('The key exists already; it is not overwritten.');
    }
  });
});
