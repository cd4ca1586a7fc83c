import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.js';

let t: TestApp;
beforeEach(async () => {
  t = await startApp();
});
afterEach(async () => t.close());

const preview = (variables: string, query = 'query($k: ID) { previewKey(input: {keyID: $k}) { keyID } }') =>
  t.send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${t.management}` },
    body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
  });
const errorOf = (body: Record<string, unknown>) =>
  (body['errors'] as { message: string; extensions: { code: string; issues?: object[] } }[])[0];

describe('a number as an identifier', () => {
  it.each([
    ['9007199254740991', '9007199254740991'],
    ['-5', '-5'],
    ['"1152921504606846976"', '1152921504606846976'],
  ])('is accepted as a variable when it is exact: %s', async (value, keyID) => {
    expect((await preview(`{"k":${value}}`)).body).toEqual({ data: { previewKey: { keyID } } });
  });

  it.each(['1152921504606846976', '1152921504606846977', '-9223372036854775808', '9007199254740992', '1e308'])(
    'is rejected as a variable beyond 2^53-1: %s',
    async (value) => {
      const { body } = await t.send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-svc-authorization': t.service },
        body: `{"query":"query($k: ID!) { orgKey(by: { keyID: $k }) { version } }","variables":{"k":${value}}}`,
      });
      expect(errorOf(body)).toMatchObject({
        message: '`by.keyID` must be a decimal string: gateways round numbers beyond 2^53-1.',
        extensions: { code: 'INVALID', issues: [{ path: 'by.keyID', code: 'IMPRECISE' }] },
      });
    },
  );

  it('is rejected with its path as a variable inside a literal', async () => {
    const { body } = await preview('{"k":1152921504606846976}');
    expect(errorOf(body)?.extensions).toMatchObject({ issues: [{ path: 'keyID', code: 'WRONG_TYPE' }] });
  });

  it('is rejected with its path inside an input object', async () => {
    const query = 'query($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }';
    const { body } = await preview('{"i":{"keyID":1152921504606846976}}', query);
    expect(errorOf(body)?.extensions).toMatchObject({
      code: 'INVALID',
      issues: [{ path: 'keyID', code: 'WRONG_TYPE', message: 'must be a string' }],
    });
  });

  it('changes no other key', async () => {
    await t.importKeys({ key_id: '1152921504606847000', org_id: 'acme', alias: 'before' });
    const { body } = await t.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-authorization': t.service },
      body: '{"query":"mutation($k: ID!) { updateOrgKey(keyID: $k, input: {alias: \\"after\\"}) { key } }","variables":{"k":1152921504606846976}}',
    });
    expect(errorOf(body)?.extensions.code).toBe('INVALID');
    const key = await t.send('/svc/org/keys/1152921504606847000', { headers: { 'x-svc-authorization': t.service } });
    expect(key.body).toMatchObject({ data: { alias: 'before' } });
  });

  it('is exact as a literal', async () => {
    const { body } = await preview('{}', '{ previewKey(input: {keyID: 1152921504606846976}) { keyID } }');
    expect(body).toEqual({ data: { previewKey: { keyID: '1152921504606846976' } } });
  });
});

describe('an unknown member of a request body', () => {
  it('is rejected without its name', async () => {
    const { status, text } = await t.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{__typename}","kf_secret_123":1}',
    });
    expect(status).toBe(400);
    expect(text).toContain('query, documentId, operationName, variables, extensions');
    expect(text).not.toContain('kf_secret_123');
  });
});
