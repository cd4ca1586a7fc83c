import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyService } from '../../../src/keys/key-service.js';
import { codeOf, dataOf, issuesOf } from '../../support/responses.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { hashOf } from '../../support/factories.js';
import { expectNoChange, stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({
    key_id: 'k1',
    org_id: 'acme',
    alias: 'one',
    rate: 5,
    per: 1,
    quota_max: 100,
    quota_remaining: 30,
    rsa_certificate_id: 'unknown to an old dashboard',
    hmac_string: 'hunter2-hmac',
    basic_auth_data: { user: 'u', password: 'hunter2-password', hash_type: 'argon2id' },
    meta_data: { team: 'a', size: 9007199254740993n },
    access_rights: { invoices: { api_id: 'invoices', limit: { rate: 5, per: 1 } }, payments: { api_id: 'payments' } },
  });
});

const patch = (value: object, args = '', fields = 'orgKey { version } changes { path } quotaReset') =>
  t.graphql(`mutation ($patch: PatchKeyInput!) { patchOrgKey(keyID: "k1", patch: $patch${args}) { ${fields} } }`, {
    patch: value,
  });
const send = (body: string, { query = '', ...headers }: Record<string, string> = {}) =>
  t.send(`/svc/org/keys/k1${query}`, {
    method: 'PATCH',
    headers: { ...t.credentials, 'content-type': 'application/merge-patch+json', ...headers },
    body,
  });
const definition = async () => (await stateOf(t, 'k1')).key?.definition;

describe('patchOrgKey', () => {
  it('changes the fields that it names and no other, the secrets included', async () => {
    const before = (await stateOf(t, 'k1')).key;
    const response = await patch({
      rate: 9,
      alias: null,
      metaData: { team: null, size: '9007199254740993', more: [1] },
    });
    expect(dataOf(response)).toStrictEqual({
      orgKey: { version: 2 },
      changes: ['metaData.more', 'metaData.team', 'rate', 'alias'].map((path) => ({ path })),
      quotaReset: null,
    });
    const { alias: _, ...others } = before?.definition ?? {};
    const metaData = { size: 9007199254740993n, more: [1] };
    const after = (await stateOf(t, 'k1')).key;
    expect(after?.definition).toStrictEqual({ ...others, rate: 9, metaData });
    expect([after?.secrets, after?.quota]).toStrictEqual([before?.secrets, before?.quota]);
    expect((await stateOf(t, 'k1')).audit.at(-1)).toMatchObject({ operation: 'update', versionAfter: 2 });
  });

  it('sets, keeps and clears secrets; a new password keeps its hash type', async () => {
    const set = 'hmacStringSet basicAuthData { user hashType passwordSet } jwtData { secretSet }';
    const read = async () =>
      dataOf(await t.graphql(`{ orgKey(by: { keyID: "k1" }) { definition { ${set} } } }`))['definition'];
    await patch({ basicAuthData: { password: 'hunter2-new' }, jwtData: { secret: 'hunter2-jwt' } });
    expect((await stateOf(t, 'k1')).key?.secrets.passwordHash).toMatch(/^\$argon2id\$/);
    expect(await read()).toStrictEqual({
      hmacStringSet: true,
      basicAuthData: { user: 'u', hashType: 'argon2id', passwordSet: true },
      jwtData: { secretSet: true },
    });
    const response = await patch({ hmacString: null, jwtData: null, basicAuthData: null });
    expect(await read()).toStrictEqual({ hmacStringSet: false, basicAuthData: null, jwtData: null });
    expect(response.text + t.logs()).not.toContain('hunter2');
  });

  it('resets the quota with or without a change of the definition', async () => {
    expect(dataOf(await patch({}, ', resetQuota: true'))).toStrictEqual({
      orgKey: { version: 2 },
      changes: [{ path: 'quotaRemaining' }],
      quotaReset: 'APPLIED',
    });
    expect((await stateOf(t, 'k1')).key?.quota.used).toBe(0n);
  });

  it('of nothing makes no version', async () => {
    expect(dataOf(await patch({ rate: 5 }, '', 'changed version'))).toStrictEqual({ changed: false, version: 1 });
  });

  it('is applied to the newest definition if the key changes while it is prepared', async () => {
    const { ports } = t.app.services;
    const caller = { credentialID: 'c', label: 'c', orgID: undefined, requestID: 'r' };
    let isFirst = true;
    const keys = createKeyService({
      ...ports,
      hashPassword: async (...args) => {
        if (isFirst)
          await createKeyService(ports).patchOrgKey(caller, { keyID: 'k1', patch: { per: 60 }, resetQuota: false });
        isFirst = false;
        return ports.hashPassword(...args);
      },
    });
    const value = { rate: 7, basicAuthData: { password: 'p' } };
    const { key } = await keys.patchOrgKey(caller, { keyID: 'k1', patch: value, resetQuota: false });
    expect([key.version, key.definition.rate, key.definition.per]).toStrictEqual([3, 7, 60]);
  });

  it('is rejected with the paths of the patched definition, and changes nothing', async () => {
    const response = await expectNoChange(t, () =>
      patch({ smoothing: { enabled: true }, accessRights: [{ label: 'invoices', apiID: 'i' }] }),
    );
    expect(issuesOf(response).toSorted()).toStrictEqual(
      ['delay', 'step', 'threshold', 'trigger'].map((name) => `smoothing.${name} INCOMPLETE_SMOOTHING`),
    );
    for (const [value, issue] of [
      [{ orgID: 'other' }, 'orgID ORGANIZATION_CHANGED'],
      [{ basicAuthData: { hashType: 'bcrypt' } }, 'basicAuthData.hashType PASSWORD_NEEDED'],
      [{ mtlsStaticCertificateBindings: ['a'] }, 'mtlsStaticCertificateBindings WRONG_VARIANT'],
    ] as const) {
      expect(issuesOf(await expectNoChange(t, () => patch(value)))).toContain(issue);
    }
  });

  it('is predicted by previewOrgKeyPatch', async () => {
    const fields = 'version definition { rate alias } changes { path kind } quotaEffect { after { used } }';
    const query = `query ($patch: PatchKeyInput!) { previewOrgKeyPatch(keyID: "k1", patch: $patch, resetQuota: true) { ${fields} } }`;
    const value = { rate: 8, hmacString: 'hunter2-hmac' };
    const predicted = await expectNoChange(t, () => t.graphql(query, { patch: value }));
    expect(dataOf(predicted)).toStrictEqual({
      version: 2,
      definition: { rate: 8, alias: 'one' },
      changes: [
        { path: 'quotaRemaining', kind: 'CHANGED' },
        { path: 'rate', kind: 'CHANGED' },
      ],
      quotaEffect: { after: { used: 0 } },
    });
  });
});

describe('PATCH /svc/org/keys/{keyID}', () => {
  it('merges the body by the rules of RFC 7396, entries of access rights included', async () => {
    const response = await send(
      '{"rate":9,"alias":null,"access_rights":{"invoices":{"limit":{"rate":1}},"payments":null,"new":{"api_id":"other"}},"meta_data":{"size":9007199254740995}}',
    );
    expect([response.status, response.headers.get('etag'), response.body]).toStrictEqual([
      200,
      '"2"',
      {
        action: 'modified',
        key: 'k1',
        key_hash: hashOf('k1'),
        status: 'ok',
        warnings: [
          { path: 'quota_renewal_rate', code: 'QUOTA_NEVER_RENEWS', message: expect.any(String) as string },
          {
            path: 'access_rights.new.api_id',
            code: 'LABEL_MISMATCH',
            message: 'differs from the label, and a gateway looks entries up by `api_id`',
          },
        ],
      },
    ]);
    expect(await definition()).toMatchObject({
      rate: 9,
      rsaCertificateID: 'unknown to an old dashboard',
      metaData: { team: 'a', size: 9007199254740995n },
      accessRights: [
        { label: 'invoices', apiID: 'invoices', limit: { rate: 1, per: 1 } },
        { label: 'new', apiID: 'other' },
      ],
    });
    expect(await definition()).not.toHaveProperty('alias');
  });

  it('resets the quota, requires the version of If-Match, and is repeated at most once', async () => {
    const headers = { query: '?reset_quota=1', 'if-match': '"1"', 'idempotency-key': 'k' };
    const first = await send('{"rate":9}', headers);
    expect([first.status, first.headers.get('quota-reset'), first.headers.get('etag')]).toEqual([
      200,
      'applied',
      '"2"',
    ]);
    const again = await send('{"rate":9}', headers);
    expect([again.status, again.headers.get('etag'), again.text]).toEqual([200, '"2"', first.text]);
    expect(issuesOf(await send('{"rate":8}', headers))).toEqual(['idempotencyKey MALFORMED_ARGUMENT']);
    expect((await send('{"rate":8}', { 'if-match': '"1"' })).status).toBe(412);
  });

  it.each([
    ['[]', ' WRONG_TYPE'],
    ['null', ' WRONG_TYPE'],
    ['"x"', ' WRONG_TYPE'],
    ['{', ' MALFORMED_JSON'],
    ['{"rate":1,"rate":2}', 'rate DUPLICATE_MEMBER'],
    ['{"key_id":"x"}', 'key_id WRONG_VARIANT'],
    ['{"aliass":"x"}', 'aliass UNKNOWN_FIELD'],
    ['{"access_rights":[{"label":"a"}]}', 'access_rights WRONG_TYPE'],
    ['{"access_rights":{"a":{"label":"b"}}}', 'access_rights.a.label UNKNOWN_FIELD'],
    ['{"access_rights":{"a":{"limit":{"rate":-5}}}}', 'access_rights.a.limit.rate OUT_OF_RANGE'],
    ['{"meta_data":{"__proto__":{"a":1}}}', 'meta_data.__proto__ RESERVED_NAME'],
  ])('rejects %s and changes nothing', async (body, issue) => {
    const response = await expectNoChange(t, () => send(body));
    expect([response.status, issuesOf(response)]).toStrictEqual([400, [issue]]);
  });

  it.each([
    ['application/json', 200],
    ['Application/Merge-Patch+JSON; charset=utf-8', 200],
    ['application/json-patch+json', 415],
    ['text/plain', 415],
  ])('responds to the content type %s with %d', async (type, status) => {
    expect((await send('{"rate":9}', { 'content-type': type })).status).toBe(status);
  });

  it('accepts merge-patch+json for a patch only', async () => {
    const headers = { ...t.credentials, 'content-type': 'application/merge-patch+json' };
    expect((await t.send('/svc/org/keys/k1', { method: 'PUT', headers, body: '{}' })).status).toBe(415);
  });
});

describe('a change of a key by its hash', () => {
  const byHash = (hash: string) => [
    `updateOrgKey(keyHash: "${hash}", input: { alias: "h" }) { version }`,
    `patchOrgKey(keyHash: "${hash}", patch: { alias: "i" }) { version }`,
    `consumeOrgQuota(keyHash: "${hash}") { allowed }`,
    `revertOrgKey(keyHash: "${hash}", toVersion: 1) { version }`,
    `deleteOrgKey(keyHash: "${hash}") { version }`,
    `restoreOrgKey(keyHash: "${hash}") { version }`,
  ];

  it('has the effect of one by its identifier', async () => {
    for (const call of byHash(hashOf('k1'))) expect(codeOf(await t.graphql(`mutation { ${call} }`))).toBeUndefined();
    for (const call of [
      'previewOrgKeyUpdate(keyHash: $hash, input: {}) { version }',
      'previewOrgKeyPatch(keyHash: $hash, patch: {}) { version }',
      'previewOrgKeyRevert(keyHash: $hash, toVersion: 2) { version changes { path } }',
    ]) {
      expect(codeOf(await t.graphql(`query ($hash: String) { ${call} }`, { hash: hashOf('k1') }))).toBeUndefined();
    }
    expect((await stateOf(t, 'k1')).key?.version).toBe(6);
  });

  it('is rejected for a hash of another form, which may be a key identifier and is not logged', async () => {
    for (const call of byHash('secret-key-identifier')) {
      const response = await expectNoChange(t, () => t.graphql(`mutation { ${call} }`));
      expect(issuesOf(response)).toStrictEqual(['keyHash MALFORMED_ARGUMENT']);
    }
    expect(t.logs()).not.toContain('secret-key-identifier');
    expect(codeOf(await t.graphql(`mutation { ${byHash(hashOf('none'))[1] ?? ''} }`))).toBe('NOT_FOUND');
  });

  it('requires either the identifier or the hash', async () => {
    for (const [args, issue] of [
      ['patch: {}', 'keyID MISSING'],
      ['keyID: null, keyHash: null, patch: {}', 'keyID MISSING'],
      [`keyID: "k1", keyHash: "${hashOf('k1')}", patch: {}`, 'keyID MALFORMED_ARGUMENT'],
    ] as const) {
      const response = await expectNoChange(t, () => t.graphql(`mutation { patchOrgKey(${args}) { version } }`));
      expect(issuesOf(response)).toStrictEqual([issue]);
    }
  });
});

describe('a repeated change with an idempotency key', () => {
  it.each([
    ['updateOrgKey', 'input: { alias: "n" }, resetQuota: true'],
    ['patchOrgKey', 'patch: { alias: "n" }, resetQuota: true'],
    ['revertOrgKey', 'toVersion: 1'],
    ['deleteOrgKey', ''],
  ])('of %s is made once, also if it names the key by its hash', async (operation, args) => {
    await patch({ alias: 'before' });
    const call = (reference: string) =>
      t.graphql(`mutation { ${operation}(${reference}, ${args} idempotencyKey: "k") { version } }`);
    const first = await call('keyID: "k1"');
    expect(dataOf(first)).toStrictEqual({ version: 3 });
    await t.graphql('mutation { consumeOrgQuota(keyID: "k1", amount: 5) { allowed } }');
    const before = await stateOf(t, 'k1');
    expect(dataOf(await call(`keyHash: "${hashOf('k1')}"`))).toStrictEqual({ version: 3 });
    expect(await stateOf(t, 'k1')).toStrictEqual(before);
  });

  it('restores once', async () => {
    await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    const restore = () => t.graphql('mutation { restoreOrgKey(keyID: "k1", idempotencyKey: "k") { version } }');
    expect([dataOf(await restore()), dataOf(await restore())]).toStrictEqual([{ version: 3 }, { version: 3 }]);
    await t.graphql('mutation { deleteOrgKey(keyID: "k1") { version } }');
    const headers = { ...t.credentials, 'idempotency-key': 'rest' };
    const byREST = () => t.send('/svc/org/keys/k1/restore', { method: 'POST', headers });
    const [first, again] = [await byREST(), await byREST()];
    expect([first.status, again.status, again.headers.get('etag'), again.text]).toEqual([200, 200, '"5"', first.text]);
  });
});

it('previewOrgKeyRevert predicts exactly what revertOrgKey then does', async () => {
  await patch({ alias: 'two', rate: 9 });
  const fields = 'version changed changes { path kind before after } quotaEffect { after { max used } }';
  const preview = () =>
    t.graphql(`{ previewOrgKeyRevert(keyID: "k1", toVersion: 1) { ${fields} definition { alias rate } } }`);
  const predicted = dataOf(await expectNoChange(t, preview));
  const { definition: shown, ...effect } = predicted;
  expect(shown).toStrictEqual({ alias: 'one', rate: 5 });
  const made = await t.graphql(
    `mutation { revertOrgKey(keyID: "k1", toVersion: 1, expectedVersion: 2) { ${fields} orgKey { definition { alias rate } } } }`,
  );
  expect(dataOf(made)).toStrictEqual({ ...effect, orgKey: { definition: shown } });
  for (const [args, code] of [
    ['toVersion: 99', 'NOT_FOUND'],
    ['toVersion: 1, expectedVersion: 1', 'CONFLICT'],
  ] as const) {
    const response = await t.graphql(`{ previewOrgKeyRevert(keyID: "k1", ${args}) { version } }`);
    expect(codeOf(response)).toBe(code);
  }
});
