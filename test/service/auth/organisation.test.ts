import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';

let t: TestApp;
let acmeService: string;
let acmeManagement: string;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({ key_id: 'acme-key', org_id: 'acme' }, { key_id: 'globex-key', org_id: 'globex' });
  acmeService = (await t.issue('service', { orgID: 'acme' })).secret;
  acmeManagement = (await t.issue('management', { orgID: 'acme' })).secret;
});

const put = (keyID: string, definition: object) =>
  t.update(keyID, definition, '', { 'x-svc-authorization': acmeService });

describe('a service credential that is bound to an organisation', () => {
  it('changes a key of its organisation, as one that is bound to none changes every key', async () => {
    expect((await put('acme-key', { alias: 'after', org_id: 'acme' })).status).toBe(200);
    expect((await t.update('globex-key', {})).status).toBe(200);
  });

  it('hashes no password for a key that it may not change', async () => {
    const definition = { basic_auth_data: { password: 'hunter2-hunter2' } };
    // More than are hashed and queued at a time: some of them would get UNAVAILABLE.
    const responses = await Promise.all(Array.from({ length: 60 }, () => put('globex-key', definition)));
    expect(new Set(responses.map(codeOf))).toStrictEqual(new Set(['NOT_FOUND']));
  });
});

describe('a management credential that is bound to an organisation', () => {
  const preview = (definition: object) => t.preview(definition, { authorization: `Bearer ${acmeManagement}` });
  const previewKey = (input: object) =>
    t.graphql(
      'query ($i: PreviewKeyInput!) { previewKey(input: $i) { keyID data { orgID } } }',
      { i: input },
      { authorization: `Bearer ${acmeManagement}` },
    );

  it('previews for its own organisation, and for none', async () => {
    for (const definition of [{}, { org_id: 'acme' }, { org_id: null }]) {
      const { status, body } = await preview(definition);
      expect(status).toBe(200);
      expect(body['key_id']).toMatch(/^acme[0-9a-f]{32}$/);
    }
    expect((await previewKey({})).body).toMatchObject({
      data: { previewKey: { keyID: expect.stringMatching(/^acme[0-9a-f]{32}$/) } },
    });
  });

  it.each(['globex', 'Acme', 'acme ', ''])('gets FORBIDDEN from a preview for the organisation %j', async (orgID) => {
    const response = await preview({ org_id: orgID });
    expect(response.status).toBe(403);
    expect(response.body).toStrictEqual({
      status: 'error',
      message: 'The credential is bound to another organisation than the definition names.',
      code: 'FORBIDDEN',
      request_id: expect.any(String),
    });
    expect(codeOf(await previewKey({ orgID }))).toBe('FORBIDDEN');
  });
});
