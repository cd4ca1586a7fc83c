import { beforeEach, describe, expect, it } from 'vitest';
import { prepareLine } from '../../../src/cli/keys/import-lines.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { codeOf, dataOf, sendRequest } from '../../support/responses.js';
import { stateOf } from '../../support/state.js';

// A client that reads a key, and writes every field back, writes these.
const empty = {
  org_id: '',
  hmac_string: '',
  jwt_data: { secret: '' },
  basic_auth_data: { password: '', hash_type: '', user: 'ada' },
  last_updated: '',
};
const emptyInput = {
  orgID: '',
  hmacString: '',
  jwtData: { secret: '' },
  basicAuthData: { password: '', hashType: '', user: 'ada' },
  lastUpdated: '',
};
const apply_policies = ['gold'];

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

describe('an empty owner, secret, hash type and time of the last update are absent', () => {
  beforeEach(() =>
    t.importKeys({
      key_id: 'k1',
      org_id: 'acme',
      hmac_string: 'h',
      jwt_data: { secret: 'j' },
      basic_auth_data: { password: 'p', hash_type: 'argon2id' },
    }),
  );
  const stored = async () => {
    const { key } = await stateOf(t, 'k1');
    if (!key) throw new Error('The key of the test is not there.');
    return key;
  };

  it.each<[string, () => Promise<unknown>]>([
    ['an update in REST', async () => t.update('k1', { ...empty, apply_policies })],
    [
      'an update in GraphQL',
      async () =>
        dataOf(
          await t.graphql(
            'mutation ($input: UpdateKeyInput!) { updateOrgKey(keyID: "k1", input: $input) { version } }',
            {
              input: emptyInput,
            },
          ),
        ),
    ],
    [
      'a bulk update',
      async () =>
        dataOf(
          await t.graphql(
            'mutation ($patch: PatchKeyInput!) { updateOrgKeys(filter: { orgID: "acme" }, patch: $patch, dryRun: false) { hasNextPage } }',
            { patch: emptyInput },
          ),
        ),
    ],
  ])('in %s, which keeps the owner and the secrets', async (_, update) => {
    const before = await stored();
    await update();
    const after = await stored();
    expect(after.version).toBe(2);
    expect([after.orgID, after.secrets]).toStrictEqual([before.orgID, before.secrets]);
    expect(after.definition.basicAuthData).toStrictEqual({ hashType: 'argon2id', user: 'ada' });
  });

  it('in the input of a preview, which shows none of them', async () => {
    const { status, body } = await t.preview({ ...empty, key_id: 'k', apply_policies });
    expect([status, body['data'], body['warnings']]).toStrictEqual([
      200,
      { apply_policies, basic_auth_data: { user: 'ada' }, jwt_data: {}, key_id: 'k' },
      undefined,
    ]);
    const query = 'query ($input: PreviewKeyInput!) { previewKey(input: $input) { data { orgID } warnings { code } } }';
    const response = await t.graphql(query, { input: { ...emptyInput, applyPolicies: ['gold'] } });
    expect(dataOf(response)).toStrictEqual({ data: { orgID: null }, warnings: [] });
  });

  it('for a credential that is bound to an organization, which owns the new key', async () => {
    const { secret } = await t.issue('service', { orgID: 'globex' });
    const created = await sendRequest(t, 'POST', '/svc/org/keys/new', empty, { 'x-svc-authorization': secret });
    expect([created.status, (await stateOf(t, 'new')).key?.orgID]).toStrictEqual([200, 'globex']);
    const unbound = await sendRequest(t, 'POST', '/svc/org/keys/other', empty);
    expect([unbound.status, unbound.body['issues']]).toStrictEqual([
      400,
      [{ path: 'org_id', code: 'MISSING', message: 'is required; every key has an owner' }],
    ]);
    const bound = await t.issue('management', { orgID: 'globex' });
    const previewed = await t.preview(empty, { authorization: `Bearer ${bound.secret}` });
    expect([previewed.status, codeOf(previewed)]).toStrictEqual([200, undefined]);
    expect(previewed.body['key_id']).toMatch(/^globex/);
  });

  it.each([false, true])('in an import, also if passwords are hashed (%j)', async (passwordsAreHashed) => {
    const options = { orgID: 'globex', passwordsAreHashed };
    const { transition } = await prepareLine(t.app.services.ports, { key_id: 'k2', ...empty }, options);
    expect(transition.next).toMatchObject({
      orgID: 'globex',
      definition: { basicAuthData: { user: 'ada' }, jwtData: {} },
      secrets: { passwordHash: undefined, jwtSecret: undefined, hmacString: undefined },
    });
    const hash = `$2b$10$${'a'.repeat(53)}`;
    const line = { key_id: 'k3', basic_auth_data: { password: hash, hash_type: '' } };
    const imported = passwordsAreHashed && (await prepareLine(t.app.services.ports, line, options));
    if (imported) expect(imported.transition.next.secrets.passwordHash).toBe(hash);
  });
});
