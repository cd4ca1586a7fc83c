import { describe, expect, it } from 'vitest';
import { convertSession, type ConvertedSession, type SessionOptions } from '../../../src/cli/keys/tyk-session.js';
import type { JSONValue } from '../../../src/lib/json.js';
import { emptySession } from '../../support/tyk-session.js';

const plain: SessionOptions = { namesAreHashes: false, keepsUnknown: false };

const convert = (changes: Record<string, JSONValue>, options: Partial<SessionOptions> = {}): ConvertedSession =>
  convertSession(
    { key: 'apikey-k1', value: { ...emptySession, org_id: 'acme', ...changes } },
    { ...plain, ...options },
  );
const body = (changes: Record<string, JSONValue>, options?: Partial<SessionOptions>) => convert(changes, options).body;
const noted = ({ differences }: ConvertedSession) => differences.map(({ code, path }) => `${code} ${path.join('.')}`);

describe('a session', () => {
  it('has no zero values, apart from what they say', () => {
    expect(convert({})).toEqual({
      body: { key_id: 'k1', org_id: 'acme' },
      passwordIsHashed: false,
      differences: [],
    });
    const used = { quota_max: 100n, quota_remaining: 0n, quota_renews: 1_893_456_000n };
    expect(body(used)).toMatchObject(used);
    expect(body({ quota_max: 100n, quota_remaining: 0n })).not.toHaveProperty('quota_remaining');
    expect(body({ access_rights: { billing: {} } })).toMatchObject({ access_rights: { billing: {} } });
    expect(body({ meta_data: { paid: false, note: '' } })).toMatchObject({ meta_data: { paid: false, note: '' } });
  });

  it('keeps its access rights, without the members that say nothing', () => {
    const right = { api_id: 'billing', api_name: 'Billing', versions: ['Default'], allowed_urls: null };
    const limit = { rate: 0, per: 0, quota_max: 0n, quota_renews: 0n, max_query_depth: 0, smoothing: null };
    const more = { allowance_scope: '', restricted_types: [], disable_introspection: false };
    expect(convert({ access_rights: { billing: { ...right, limit, ...more } } })).toEqual({
      body: {
        ...{ key_id: 'k1', org_id: 'acme' },
        access_rights: { billing: { api_id: 'billing', api_name: 'Billing', versions: ['Default'] } },
      },
      passwordIsHashed: false,
      differences: [],
    });
  });

  it('reports what has no field, and which of it is a restriction', () => {
    const session = {
      post_expiry_action: 'retain',
      access_rights: {
        billing: { restricted_types: [{ name: 'Query', fields: ['salary'] }], limit: { quota_renews: 9n } },
      },
    };
    const converted = convert(session);
    expect(noted(converted)).toEqual([
      'RESTRICTION_LOST access_rights.billing.restricted_types',
      'UNKNOWN_MEMBER access_rights.billing.limit.quota_renews',
      'UNKNOWN_MEMBER post_expiry_action',
    ]);
    expect(converted.body).not.toHaveProperty('meta_data');
    expect(body({ ...session, meta_data: { plan: 'b' } }, { keepsUnknown: true })).toMatchObject({
      meta_data: {
        plan: 'b',
        tyk: {
          post_expiry_action: 'retain',
          'access_rights.billing.limit.quota_renews': 9n,
          'access_rights.billing.restricted_types': [{ name: 'Query', fields: ['salary'] }],
        },
      },
    });
  });

  it('has a rate limit only with both of its members', () => {
    expect(body({ rate: 10, per: 60 })).toMatchObject({ rate: 10, per: 60 });
    for (const [half, code] of [
      [{ rate: 10, per: 0 }, ['RATE_OFF rate']],
      [{ rate: 0, per: 60 }, ['RATE_OFF per']],
      [{ rate: -1, per: -1 }, []],
    ] as const) {
      const converted = convert(half);
      expect(noted(converted)).toEqual(code);
      expect(converted.body).toEqual({ key_id: 'k1', org_id: 'acme' });
    }
  });

  it('keeps a rate that is no number, which the import rejects', () => {
    expect(body({ rate: '10' })).toMatchObject({ rate: '10' });
    expect(body({ rate: 10, per: '60' })).toMatchObject({ per: '60' });
  });

  it('has the policies that the gateway applies', () => {
    expect(body({ apply_policy_id: 'gold' })).toMatchObject({ apply_policy_id: 'gold' });
    const both = convert({ apply_policy_id: 'gold', apply_policies: ['silver'], is_inactive: true, quota_max: 5n });
    expect(noted(both)).toEqual([
      'POLICY_ID_IGNORED apply_policy_id',
      'INACTIVE_WITH_POLICY is_inactive',
      'POLICY_REPLACES quota_max',
    ]);
    expect(both.body).toMatchObject({ apply_policies: ['silver'], is_inactive: true, quota_max: 5n });
    expect(both.body).not.toHaveProperty('apply_policy_id');
    expect(noted(convert({ is_inactive: true }))).toEqual([]);
  });

  it('has its password, if it can be verified', () => {
    const bcrypt = `$2a$10$${'a'.repeat(53)}`;
    const password = (value: string, hash_type: string) => convert({ basic_auth_data: { password: value, hash_type } });
    expect(password(bcrypt, 'bcrypt')).toMatchObject({
      body: { basic_auth_data: { password: bcrypt, hash_type: 'bcrypt' } },
      passwordIsHashed: true,
    });
    expect(password('secret', '')).toMatchObject({
      body: { basic_auth_data: { password: 'secret' } },
      passwordIsHashed: false,
    });
    for (const [value, type] of [
      ['d5f8ee32', 'murmur32'],
      ['0f'.repeat(32), 'sha256'],
      ['secret', 'bcrypt'],
    ] as const) {
      const converted = password(value, type);
      expect(noted(converted)).toEqual(['PASSWORD_LOST basic_auth_data.password']);
      expect(converted.body).toEqual({ key_id: 'k1', org_id: 'acme' });
    }
  });

  it('has the newer name of the recording, and no smoothing that the gateway ignores', () => {
    const smoothing = { enabled: true, step: 1, trigger: 0, delay: 0, threshold: 0 };
    const converted = convert({ enable_detail_recording: true, enable_detailed_recording: true, smoothing });
    expect(converted.body).toEqual({ key_id: 'k1', org_id: 'acme', enable_detailed_recording: true });
    expect(noted(converted)).toEqual(['SMOOTHING_IGNORED smoothing']);
  });
});

describe('the name of a session', () => {
  const hash = 'c4'.repeat(16);
  const name = (found: JSONValue, options: Partial<SessionOptions> = {}) => {
    const converted = convertSession(found, { ...plain, ...options });
    return { ...(converted.body as object), noted: noted(converted) };
  };

  it.each([
    ['its key in Redis', { key: 'apikey-k1', value: {} }, {}, { key_id: 'k1', noted: [] }],
    ['its key at the admin API', { key: 'k1', value: {} }, {}, { key_id: 'k1', noted: [] }],
    ['its own member', { key_id: 'k1' }, {}, { key_id: 'k1', noted: [] }],
    ['the text of Redis', { key: 'k1', value: '{"alias":"a"}' }, {}, { key_id: 'k1', alias: 'a', noted: [] }],
    [
      'a hash',
      { key: `apikey-${hash}`, value: {} },
      { namesAreHashes: true },
      { key_hash: hash, noted: ['HASH_ONLY key_hash'] },
    ],
    [
      'a hash beside its identifier',
      { key: hash, value: { key_id: 'k1' } },
      { namesAreHashes: true },
      { key_id: 'k1', noted: [] },
    ],
    ['its own hash', { key_hash: hash }, {}, { key_hash: hash, noted: ['HASH_ONLY key_hash'] }],
  ])('is %s', (_, found, options, expected) => {
    expect(name(found, options)).toEqual(expected);
  });

  it.each([
    ['a list', [1], 'The line is not a JSON object.'],
    ['text as the session', { key: 'k1', value: 'no' }, expect.stringContaining('JSON')],
    ['a number as the name', { key: 1, value: {} }, 'The line is no session.'],
    ['no session', { key: 'k1' }, 'The line is no session.'],
    ['members beside it', { key: 'k1', value: {}, ttl: 1 }, 'The line is no session.'],
    [
      'an organization',
      { key: 'orgkey.acme', value: {} },
      expect.stringContaining('limits all keys of an organization'),
    ],
  ] as const)('rejects %s', (_, found, message) => {
    expect(() => name(found as JSONValue)).toThrow(expect.objectContaining({ code: 'INVALID', message }) as Error);
  });
});
