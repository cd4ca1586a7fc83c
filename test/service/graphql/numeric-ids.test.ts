import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { errorsOf, issuesOf } from '../../support/responses.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const preview = (variables: string, query = 'query($k: ID) { previewKey(input: {keyID: $k}) { keyID } }') =>
  t.post(`{"query":${JSON.stringify(query)},"variables":${variables}}`);

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
      const response = await preview(`{"k":${value}}`, 'query($k: ID!) { orgKey(by: { keyID: $k }) { version } }');
      expect(errorsOf(response)).toMatchObject([
        {
          message: '`by.keyID` must be a decimal string: gateways round numbers beyond 2^53-1.',
          extensions: { code: 'INVALID', issues: [{ path: 'by.keyID', code: 'IMPRECISE' }] },
        },
      ]);
    },
  );

  it('is rejected with its path as a variable inside a literal', async () => {
    expect(issuesOf(await preview('{"k":1152921504606846976}'))).toEqual(['keyID WRONG_TYPE']);
  });

  it('is rejected with its path inside an input object', async () => {
    const query = 'query($i: PreviewKeyInput!) { previewKey(input: $i) { keyID } }';
    const response = await preview('{"i":{"keyID":1152921504606846976}}', query);
    expect(errorsOf(response)[0]?.extensions).toMatchObject({
      code: 'INVALID',
      issues: [{ path: 'keyID', code: 'WRONG_TYPE', message: 'must be a string' }],
    });
  });

  it('is exact as a literal', async () => {
    const { body } = await preview('{}', '{ previewKey(input: {keyID: 1152921504606846976}) { keyID } }');
    expect(body).toEqual({ data: { previewKey: { keyID: '1152921504606846976' } } });
  });
});

describe('an unknown member of a request body', () => {
  it('is rejected without its name', async () => {
    const { status, text } = await t.post({ query: '{__typename}', kf_secret_123: 1 });
    expect(status).toBe(400);
    expect(text).toContain('query, documentId, operationName, variables, extensions');
    expect(text).not.toContain('kf_secret_123');
  });
});
