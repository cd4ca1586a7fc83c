import { describe, expect, it } from 'vitest';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { noCredentials, startSharedApp } from '../../support/app.js';
import { expectNoChange, stateOf } from '../../support/state.js';

const t = await startSharedApp();
await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one', smoothing: { enabled: false } });

const invalid = { rate: -5, accessRights: [{ label: 'a', limit: { rate: -7 } }] };
const found = [
  { path: 'accessRights[0].limit.rate', segments: ['accessRights', '0', 'limit', 'rate'], code: 'OUT_OF_RANGE' },
  { path: 'rate', segments: ['rate'], code: 'OUT_OF_RANGE' },
];

const mutations = [
  ['createOrgKey', 'createOrgKey(keyID: "new", input: $value)', 'CreateKeyInput', { ...invalid, orgID: 'acme' }, found],
  ['updateOrgKey', 'updateOrgKey(keyID: "k1", input: $value)', 'UpdateKeyInput', invalid, found],
  [
    'patchOrgKey',
    'patchOrgKey(keyID: "k1", patch: $value)',
    'PatchKeyInput',
    { smoothing: { enabled: true, step: 1 }, accessRights: [] },
    ['delay', 'threshold', 'trigger'].map((name) => ({
      path: `smoothing.${name}`,
      segments: ['smoothing', name],
      code: 'INCOMPLETE_SMOOTHING',
    })),
  ],
] as const;

describe('the problems of a definition', () => {
  it.each(mutations)('are data in %s if the operation selects them', async (_, call, type, value, issues) => {
    const selected =
      'issues { path segments code } orgKey { version } version changed changes { path } warnings { code }';
    const query = `mutation ($value: ${type}!) { ${call} { ${selected} } }`;
    const response = await expectNoChange(t, () => t.graphql(query, { value }));
    expect(response.body).toStrictEqual({
      data: {
        [_]: {
          issues: expect.arrayContaining(
            issues.map((issue) => ({ ...issue, segments: [...issue.segments] })),
          ) as unknown,
          orgKey: null,
          version: null,
          changed: false,
          changes: [],
          warnings: [],
        },
      },
    });
    expect(dataOf<{ issues: unknown[] }>(response).issues).toHaveLength(issues.length);
  });

  it.each(mutations)('are an error in %s otherwise', async (_, call, type, value, issues) => {
    const query = `mutation ($value: ${type}!) { ${call} { version } }`;
    const response = await expectNoChange(t, () => t.graphql(query, { value }));
    expect(response.body['data']).toStrictEqual({ [_]: null });
    expect(issuesOf(response).toSorted()).toStrictEqual(issues.map(({ path, code }) => `${path} ${code}`).toSorted());
  });

  it('are data also if a fragment selects them, and the members of the key API are null', async () => {
    const query = `mutation ($value: UpdateKeyInput!) { updateOrgKey(keyID: "k1", input: $value) { ...Result } }
      fragment Result on UpdateOrgKeyPayload { action key keyHash status ... on UpdateOrgKeyPayload { issues { code } } }`;
    const response = await t.graphql(query, { value: { rate: -5 } });
    expect(response.body).toStrictEqual({
      data: {
        updateOrgKey: { action: null, key: null, keyHash: null, status: null, issues: [{ code: 'OUT_OF_RANGE' }] },
      },
    });
  });

  it('of an argument and of the key identifier are data too, and are in the audit log', async () => {
    const query = 'mutation { patchOrgKey(keyID: "a/b", patch: {}) { issues { path code } } }';
    const response = await t.graphql(query);
    expect(dataOf(response)).toStrictEqual({ issues: [{ path: 'keyID', code: 'MALFORMED_KEY_ID' }] });
    expect(t.logs()).toContain('"operation":"patchOrgKey"');
  });

  it('are empty for a change', async () => {
    const query =
      'mutation { patchOrgKey(keyID: "k1", patch: { alias: "two" }) { issues { code } orgKey { version } } }';
    const { version } = (await stateOf(t, 'k1')).key ?? { version: 0 };
    expect(dataOf(await t.graphql(query))).toStrictEqual({ issues: [], orgKey: { version: version + 1 } });
  });

  it.each([
    ['NOT_FOUND', 'patchOrgKey(keyID: "none", patch: {})', {}],
    ['CONFLICT', 'patchOrgKey(keyID: "k1", patch: {}, expectedVersion: 99)', {}],
    ['UNAUTHENTICATED', 'patchOrgKey(keyID: "k1", patch: { rate: -5 })', noCredentials],
  ])('are not data for the error %s', async (code, call, headers) => {
    const response = await t.graphql(`mutation { ${call} { issues { code } } }`, {}, headers);
    expect(codeOf(response)).toBe(code);
    expect(Object.values(response.body['data'] ?? { none: null })).toStrictEqual([null]);
  });
});
