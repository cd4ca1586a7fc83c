import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';

let t: TestApp;
let acmeManagement: string;
beforeEach(async () => {
  t = await startOwnApp();
  acmeManagement = (await t.issue('management', { orgID: 'acme' })).secret;
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
      expect(body['key_id']).toMatch(/^acme_[0-9a-f]{40}$/);
    }
    expect((await previewKey({})).body).toMatchObject({
      data: { previewKey: { keyID: expect.stringMatching(/^acme_[0-9a-f]{40}$/) } },
    });
  });

  it.each(['globex', 'Acme', 'acme '])('gets FORBIDDEN from a preview for the organisation %j', async (orgID) => {
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
