import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { codeOf } from '../../support/responses.js';
import { stateOf } from '../../support/state.js';

let t: TestApp;
let acmeService: string;
let acmeManagement: string;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys(
    { key_id: 'acme-key', org_id: 'acme', alias: 'before' },
    {
      key_id: 'globex-key',
      org_id: 'globex',
      alias: 'before',
      quota_max: 5,
      quota_remaining: 1,
      quota_renewal_rate: 60,
    },
  );
  acmeService = (await t.issue('service', { orgID: 'acme' })).secret;
  acmeManagement = (await t.issue('management', { orgID: 'acme' })).secret;
});

const put = (keyID: string, definition: object, query = '', headers = {}) =>
  t.update(keyID, definition, query, { 'x-svc-authorization': acmeService, ...headers });
const mutate = (keyID: string, variables: object = {}) =>
  t.graphql(
    `mutation ($keyID: ID!, $input: UpdateKeyInput!, $resetQuota: Boolean, $expectedVersion: Int) {
      updateOrgKey(keyID: $keyID, input: $input, resetQuota: $resetQuota, expectedVersion: $expectedVersion) { key version } }`,
    { keyID, input: {}, ...variables },
    { 'x-svc-authorization': acmeService },
  );

/** All that a caller can see of a response but the identifier of the request. */
const seen = ({ status, headers, text }: TestResponse) => ({
  status,
  headers: [...headers].filter(([name]) => name !== 'x-request-id'),
  text: text.replace(/"request_?ID":"[^"]*"/i, ''),
});

describe('a service credential that is bound to an organisation', () => {
  it('changes a key of its organisation', async () => {
    expect((await put('acme-key', { alias: 'after', org_id: 'acme' })).status).toBe(200);
    expect((await mutate('acme-key')).body).toMatchObject({ data: { updateOrgKey: { version: 3 } } });
  });

  it('gets NOT_FOUND for the key of another organisation, byte for byte as for a key that does not exist', async () => {
    const before = await stateOf(t, 'globex-key');
    const attempts: ((keyID: string) => Promise<TestResponse>)[] = [
      (keyID) => put(keyID, {}),
      (keyID) => put(keyID, {}, '?reset_quota=1'),
      (keyID) => put(keyID, { org_id: 'globex' }),
      (keyID) => put(keyID, { org_id: 'acme' }),
      (keyID) => put(keyID, { basic_auth_data: { hash_type: 'argon2id' } }),
      (keyID) => put(keyID, {}, '', { 'if-match': '"1"' }),
      (keyID) => put(keyID, {}, '', { 'if-match': '"7"' }),
      (keyID) => put(keyID, {}, '', { 'if-match': 'nonsense' }),
      (keyID) => put(keyID, { rate: 'x' }),
      (keyID) => put(keyID, { quota_renewal_rate: Number.MAX_SAFE_INTEGER, quota_max: 1 }, '?reset_quota=1'),
      (keyID) => mutate(keyID),
      (keyID) => mutate(keyID, { resetQuota: true }),
      (keyID) => mutate(keyID, { input: { orgID: 'globex' } }),
      (keyID) => mutate(keyID, { input: { orgID: 'acme' } }),
      (keyID) => mutate(keyID, { expectedVersion: 1 }),
      (keyID) => mutate(keyID, { expectedVersion: 7 }),
      (keyID) => mutate(keyID, { input: { rate: 'x' } }),
    ];
    const codes: unknown[] = [];
    for (const attempt of attempts) {
      const [foreign, missing] = [await attempt('globex-key'), await attempt('unknown-key')];
      expect(seen(foreign)).toStrictEqual(seen(missing));
      codes.push(codeOf(foreign));
    }
    expect(new Set(codes)).toStrictEqual(new Set(['NOT_FOUND', 'CONFLICT', 'INVALID']));
    expect(codes.filter((code) => code === 'NOT_FOUND')).toHaveLength(14);
    expect(await stateOf(t, 'globex-key')).toStrictEqual(before);
  });

  it('hashes no password for a key that it may not change', async () => {
    const definition = { basic_auth_data: { password: 'hunter2-hunter2' } };
    // More than are hashed and queued at a time: some of them would get UNAVAILABLE.
    const responses = await Promise.all(Array.from({ length: 60 }, () => put('globex-key', definition)));
    expect(new Set(responses.map(codeOf))).toStrictEqual(new Set(['NOT_FOUND']));
  });
});

describe('an unbound service credential', () => {
  it('changes the keys of every organisation', async () => {
    expect((await t.update('acme-key', {})).status).toBe(200);
    expect((await t.update('globex-key', {})).status).toBe(200);
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

describe('an unbound management credential', () => {
  it('previews for every organisation', async () => {
    for (const org of ['acme', 'globex']) expect((await t.preview({ org_id: org })).status).toBe(200);
  });
});
