import { beforeEach, describe, expect, it } from 'vitest';
import { startOwnApp, type TestResponse, type TestApp } from '../../support/app.js';
import { fullUpdate, hashOf } from '../../support/factories.js';
import { sendRequest } from '../../support/responses.js';
import { expectNoChange, stateOf } from '../../support/state.js';

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
  await t.importKeys({
    key_id: 'k1',
    org_id: 'acme',
    alias: 'before',
    quota_max: 100,
    quota_remaining: 30,
    quota_renewal_rate: 60,
  });
});

const rejected = (request: () => Promise<TestResponse>) => expectNoChange(t, request);

describe('PUT /svc/org/keys/{keyID}', () => {
  it('returns exactly action, key, key_hash and status, and the version as an entity tag', async () => {
    const { status, headers, body } = await t.update('k1', { alias: 'after', apply_policies: ['gold'] });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('etag')).toBe('"2"');
    expect(body).toStrictEqual({ action: 'modified', key: 'k1', key_hash: hashOf('k1'), status: 'ok' });
    expect(Object.keys(body)).toStrictEqual(['action', 'key', 'key_hash', 'status']);
  });

  it('returns warnings only if there are any', async () => {
    const { body } = await t.update('k1', { access_rights: { a: { api_id: 'b' } } });
    expect(body).toStrictEqual({
      action: 'modified',
      key: 'k1',
      key_hash: hashOf('k1'),
      status: 'ok',
      warnings: [
        {
          path: 'access_rights.a.api_id',
          code: 'LABEL_MISMATCH',
          message: 'differs from the label, and a gateway looks entries up by `api_id`',
        },
      ],
    });
  });

  it('accepts every field of the update variant and stores it in the names of the domain', async () => {
    const { status, body } = await t.update('k1', fullUpdate);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('warnings');
    const { key } = await stateOf(t, 'k1');
    expect(key?.definition).toMatchObject({
      accessRights: [{ label: 'billing', apiID: 'billing', limit: { throttleRetryLimit: 3 } }],
      enableHttpSignatureValidation: true,
      rsaCertificateID: 'rsa-1',
      quotaMax: 10000n,
      throttleRetryLimit: 4,
    });
  });

  it('writes a history entry with the credential and the versions', async () => {
    const { id, secret } = await t.issue('service');
    const { headers } = await t.update('k1', {}, '', { 'x-svc-authorization': secret });
    expect((await stateOf(t, 'k1')).audit.at(-1)).toStrictEqual({
      at: t.clock.now,
      keyHash: hashOf('k1'),
      orgID: 'acme',
      operation: 'update',
      actor: { credentialID: id, label: 'test service' },
      reason: undefined,
      requestID: headers.get('x-request-id'),
      versionBefore: 1,
      versionAfter: 2,
      quotaUsedBeforeReset: undefined,
      changes: expect.any(Array),
    });
  });
});

describe('the parameter reset_quota', () => {
  it('R-03 is off by default, also with an empty query', async () => {
    for (const query of ['', '?']) {
      const definition = { alias: `with "${query}"`, quota_max: 100, quota_renewal_rate: 60 };
      expect((await t.update('k1', definition, query)).status).toBe(200);
    }
    const { key, audit } = await stateOf(t, 'k1');
    expect(key?.quota.used).toBe(70n);
    expect(audit.map(({ quotaUsedBeforeReset }) => quotaUsedBeforeReset)).toStrictEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('resets the quota with the new definition and the history entry', async () => {
    const { status } = await t.update('k1', { quota_max: 500, quota_renewal_rate: 3600 }, '?reset_quota=1');
    expect(status).toBe(200);
    const now = BigInt(t.clock.now.getTime()) / 1000n;
    const { key, audit } = await stateOf(t, 'k1');
    expect(key?.quota).toStrictEqual({ used: 0n, renews: now + 3600n });
    expect(key?.definition).toMatchObject({ quotaMax: 500n, quotaRemaining: 500n, quotaRenews: now + 3600n });
    expect(audit.at(-1)).toMatchObject({ versionBefore: 1, versionAfter: 2, quotaUsedBeforeReset: 70n });
  });

  it.each([
    '?reset_quota',
    '?reset_quota=',
    '?reset_quota=0',
    '?reset_quota=2',
    '?reset_quota=-1',
    '?reset_quota=01',
    '?reset_quota=1.0',
    '?reset_quota=1%20',
    '?reset_quota=%201',
    '?reset_quota=+1',
    '?reset_quota=true',
    '?reset_quota=%31',
    '?reset_quota=1,1',
    '?reset_quota=1&reset_quota=1',
    '?reset_quota=0&reset_quota=1',
    '?reset_quota=1&',
    '?&reset_quota=1',
    '?reset_quota=1;',
    '?reset_quota=1=1',
    '?reset_quota=1?',
    '?RESET_QUOTA=1',
    '?resetQuota=1',
    '?reset_quota[]=1',
    '?%72eset_quota=1',
    '?reset_quota=1&verbose=1',
    '?verbose=1',
    '?__proto__=1',
    '?=1',
    '?&',
    '??reset_quota=1',
  ])('R-03 rejects %s and writes nothing', async (query) => {
    const { status, body } = await rejected(() => t.update('k1', {}, query));
    expect(status).toBe(400);
    expect(body).toMatchObject({ status: 'error', code: 'INVALID', issues: [{ code: 'MALFORMED_ARGUMENT' }] });
  });

  it('suggests the right name for a misspelt one', async () => {
    const { body } = await t.update('k1', {}, '?RESET_QUOTA=1');
    expect(body['issues']).toStrictEqual([
      {
        path: 'RESET_QUOTA',
        code: 'MALFORMED_ARGUMENT',
        message: 'is an unknown parameter; did you mean `reset_quota`?',
      },
    ]);
  });
});

describe('the header If-Match of an update', () => {
  it('accepts the current version, any version, and no header', async () => {
    for (const [index, tag] of ['"1"', '*', ' "3" ', ' * '].entries()) {
      const { status, headers } = await t.update('k1', { alias: `after ${index}` }, '', { 'if-match': tag });
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe(`"${index + 2}"`);
    }
  });

  it.each([
    '"2"',
    'W/"1"',
    '1',
    '"01"',
    '"1',
    '""',
    '"-1"',
    '"1.0"',
    '"1a"',
    '"other"',
    '"99999999999999999999"',
    '',
    '"*"',
    'x, "9"',
  ])('returns 412 and CONFLICT for the stale %s, and writes nothing', async (tag) => {
    const { status, body } = await rejected(() => t.update('k1', { alias: 'lost' }, '', { 'if-match': tag }));
    expect(status).toBe(412);
    expect(body).toMatchObject({ status: 'error', code: 'CONFLICT' });
    expect(body).not.toHaveProperty('issues');
  });

  it('accepts one of two updates from the same version, and rejects the other', async () => {
    const both = await Promise.all(['a', 'b'].map((alias) => t.update('k1', { alias }, '', { 'if-match': '"1"' })));
    expect(both.map(({ status }) => status).sort()).toStrictEqual([200, 412]);
    expect((await stateOf(t, 'k1')).key?.version).toBe(2);
  });

  it('does not reveal whether an unknown key exists', async () => {
    expect((await t.update('unknown', {}, '', { 'if-match': '"1"' })).status).toBe(404);
  });
});

describe('the key identifier of an update', () => {
  it('R-02 is compared byte by byte, case and Unicode normal form included', async () => {
    await t.importKeys({ key_id: 'é', org_id: 'acme' });
    expect((await t.update('K1', {})).status).toBe(404);
    expect((await t.update('e\u0301', {})).status).toBe(404);
    expect((await t.update('é', {})).status).toBe(200);
  });

  it('R-01 is decoded once', async () => {
    await t.importKeys({ key_id: 'a%2fb', org_id: 'acme' }, { key_id: 'a b+c?d#e:f@g', org_id: 'acme' });
    expect((await sendRequest(t, 'PUT', '/svc/org/keys/a%252fb', {})).body).toMatchObject({ key: 'a%2fb' });
    expect((await sendRequest(t, 'PUT', '/svc/org/keys/a%20b+c%3fd%23e:f@g', {})).body).toMatchObject({
      key: 'a b+c?d#e:f@g',
    });
  });

  it.each([
    ['NUL', '%00'],
    ['a byte that is not UTF-8', '%ff'],
    ['an overlong form', '%c0%af'],
    ['a lone surrogate', '%ED%A0%80'],
    ['a slash', 'a%2fb'],
    ['half an escape', '%'],
    ['an escape that is not hexadecimal', 'k1%zz'],
    ['more than 255 bytes of UTF-8', encodeURIComponent('é'.repeat(128))],
  ])('R-01 with %s is INVALID, and nothing is written', async (_name, encoded) => {
    const { status, body } = await rejected(() => sendRequest(t, 'PUT', `/svc/org/keys/${encoded}`, {}));
    expect(status).toBe(400);
    expect(body).toMatchObject({ status: 'error', code: 'INVALID' });
    expect(body['issues']).toMatchObject([{ path: 'keyID' }]);
  });
});

describe('the body of an update', () => {
  it.each([
    ['empty', '', 400, 'MALFORMED_JSON'],
    ['no JSON', 'alias=after', 400, 'MALFORMED_JSON'],
    ['cut off', '{"alias":"after"', 400, 'MALFORMED_JSON'],
    ['followed by more', '{"alias":"after"} {}', 400, 'MALFORMED_JSON'],
    ['with a trailing comma', '{"alias":"after",}', 400, 'MALFORMED_JSON'],
    ['with a member twice', '{"alias":"after","alias":"b"}', 400, 'DUPLICATE_MEMBER'],
    ['null', 'null', 400, 'WRONG_TYPE'],
    ['a list', '[]', 400, 'WRONG_TYPE'],
    ['a list of a definition', '[{"alias":"after"}]', 400, 'WRONG_TYPE'],
    ['a text', '"x"', 400, 'WRONG_TYPE'],
    ['a number', '1', 400, 'WRONG_TYPE'],
    ['true', 'true', 400, 'WRONG_TYPE'],
    ['too deep', `{"meta_data":${'['.repeat(70)}${']'.repeat(70)}}`, 400, 'TOO_DEEP'],
  ])('is rejected if it is %s, and nothing is written', async (_name, text, expected, code) => {
    for (const query of ['', '?reset_quota=1']) {
      const { status, body } = await rejected(() => t.update('k1', text, query));
      expect(status).toBe(expected);
      expect(body).toMatchObject({ status: 'error', code: 'INVALID', issues: [{ code }] });
    }
  });
});
