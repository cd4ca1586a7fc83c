import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';

let t: TestApp;
let acmeManagement: string;
beforeEach(async () => {
  t = await startOwnApp();
  acmeManagement = (await t.issue('management', { orgID: 'acme' })).secret;
});

describe('a management credential that is bound to an organization', () => {
  const preview = (definition: object) => t.preview(definition, { authorization: `Bearer ${acmeManagement}` });
  const previewKey = (input: object) =>
    t.graphql(
      'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID data { orgID } } }',
      { i: input },
      { authorization: `Bearer ${acmeManagement}` },
    );

  it('previews for its own organization, and for none', async () => {
    for (const definition of [{}, { org_id: 'acme' }, { org_id: null }]) {
      const { status, body } = await preview(definition);
      expect(status).toBe(200);
      expect(body['key_id']).toMatch(/^acme_[0-9a-f]{40}$/);
    }
    expect((await previewKey({})).body).toMatchObject({
      data: { previewKey: { keyID: expect.stringMatching(/^acme_[0-9a-f]{40}$/) } },
    });
  });

  it.each(['globex', 'Acme', 'acme '])('gets FORBIDDEN from a preview for the organization %j', async (orgID) => {
    const response = await preview({ org_id: orgID });
    expect(response.status).toBe(403);
    expect(response.body).toStrictEqual({
      status: 'error',
      message: 'The credential is bound to another organization than the definition names.',
      code: 'FORBIDDEN',
      request_id: expect.any(String),
    });
    expect(codeOf(await previewKey({ orgID }))).toBe('FORBIDDEN');
  });
});

describe('a service credential that is bound to another organization than a deleted key', () => {
  const deleted = async () => {
    await t.importKeys({ key_id: 'gone', org_id: 'acme' });
    expect((await t.graphql('mutation { deleteOrgKey(keyID: "gone") { version } }')).body).not.toHaveProperty('errors');
    return { 'x-svc-authorization': (await t.issue('service', { orgID: 'globex' })).secret };
  };

  it('finds it by neither API, also with deleted keys included', async () => {
    const headers = await deleted();
    expect(codeOf(await t.send('/svc/org/keys/gone?include_deleted=1', { headers }))).toBe('NOT_FOUND');
    const read = '{ orgKey(by: { keyID: "gone" }, includeDeleted: true) { keyHash } }';
    expect((await t.graphql(read, {}, headers)).body).toStrictEqual({ data: { orgKey: null } });
    const preview = 'query { previewOrgKeyUpdate(keyID: "gone", input: {}, includeDeleted: true) { version } }';
    expect(codeOf(await t.graphql(preview, {}, headers))).toBe('NOT_FOUND');
    // The owner finds it.
    expect((await t.graphql(read)).body).toMatchObject({ data: { orgKey: { keyHash: expect.any(String) as string } } });
  });
});
