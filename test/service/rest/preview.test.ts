import { describe, expect, it } from 'vitest';
import { startSharedApp } from '../../support/app.js';
import { fullPreview, hashOf } from '../../support/factories.js';

const t = await startSharedApp();

describe('POST /api/keys/preview', () => {
  it('returns exactly api_model, data, key_hash and key_id', async () => {
    const { status, headers, body } = await t.preview({ alias: 'Billing', apply_policies: ['gold'], key_id: 'k1' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toStrictEqual({
      api_model: {},
      data: { alias: 'Billing', apply_policies: ['gold'], key_id: 'k1' },
      key_hash: hashOf('k1'),
      key_id: 'k1',
    });
  });

  it('returns every field of the preview variant as sent, if that is the normal form', async () => {
    const { status, body } = await t.preview(fullPreview);
    expect(status).toBe(200);
    expect(body).toStrictEqual({ api_model: {}, data: fullPreview, key_hash: hashOf('my-key'), key_id: 'my-key' });
  });

  it('returns the members of data in the order of the document, for any order of the request', async () => {
    const backwards = Object.fromEntries(Object.entries(fullPreview).reverse());
    const { body } = await t.preview(backwards);
    expect(Object.keys(body['data'] as object).join(' ')).toBe(
      'access_rights alias allowance apply_policies basic_auth_data certificate mtls_static_certificate_bindings ' +
        'data_expires enable_detailed_recording expires hmac_enabled hmac_string id_extractor_deadline is_inactive ' +
        'jwt_data key_id last_check max_query_depth meta_data monitor oauth_client_id oauth_keys org_id per quota_max ' +
        'quota_remaining quota_renewal_rate quota_renews rate session_lifetime smoothing tags throttle_interval ' +
        'throttle_retry_limit',
    );
  });

  it('returns warnings, in the names of REST, only if there are any', async () => {
    const { body } = await t.preview({ apply_policy_id: 'gold', quota_max: 5, key_id: 'k1' });
    expect(Object.keys(body)).toStrictEqual(['api_model', 'data', 'key_hash', 'key_id', 'warnings']);
    expect(body['data']).toStrictEqual({ apply_policies: ['gold'], key_id: 'k1', quota_max: 5 });
    expect(body['warnings']).toStrictEqual([
      { path: 'apply_policy_id', code: 'DEPRECATED_FIELD', message: 'was moved into `apply_policies`' },
      {
        path: 'quota_renewal_rate',
        code: 'QUOTA_NEVER_RENEWS',
        message: 'is not above 0, so that the quota never renews',
      },
    ]);
  });

  it('generates a key identifier of the organization and 40 hex digits, which does not appear in data', async () => {
    const { body } = await t.preview({ org_id: 'acme' });
    expect(body['key_id']).toMatch(/^acme_[0-9a-f]{40}$/);
    expect(body['key_hash']).toBe(hashOf(String(body['key_id'])));
    expect(body['data']).toStrictEqual({ org_id: 'acme' });
    expect((await t.preview({})).body['key_id']).toMatch(/^[0-9a-f]{40}$/);
  });

  it('returns secrets as they were sent, but never the password', async () => {
    const { body, text } = await t.preview({
      basic_auth_data: { password: 'hunter2-hunter2', user: 'u' },
      jwt_data: { secret: 'jwt-5ecret' },
      hmac_string: 'hmac-5ecret',
    });
    expect(body['data']).toStrictEqual({
      basic_auth_data: { user: 'u' },
      hmac_string: 'hmac-5ecret',
      jwt_data: { secret: 'jwt-5ecret' },
    });
    expect(text).not.toContain('hunter2');
  });

  it.each([null, 'text', 17, true, [1, { a: null }], { a: { b: [] } }])('accepts %j as meta_data', async (value) => {
    const { status, body } = await t.preview({ meta_data: value });
    expect(status).toBe(200);
    expect(body['data']).toStrictEqual(value === null ? {} : { meta_data: value });
  });

  it('treats null like an absent field', async () => {
    const nulls = Object.fromEntries(Object.keys(fullPreview).map((name) => [name, null]));
    const { status, body } = await t.preview(nulls);
    expect(status).toBe(200);
    expect(body['data']).toStrictEqual({});
  });

  it('R-10 suggests the nearest field for an unknown one', async () => {
    const { body } = await t.preview({ quota_maxx: 1 });
    expect(body['issues']).toStrictEqual([
      { path: 'quota_maxx', code: 'UNKNOWN_FIELD', message: 'is an unknown field; did you mean `quota_max`?' },
    ]);
  });
});
