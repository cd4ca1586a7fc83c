import { verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { beforeEach, describe, expect, it } from 'vitest';
import { aadFor } from '../../../src/keys/protect-secrets.js';
import { startOwnApp, type TestApp } from '../../support/app.js';
import { fullUpdate } from '../../support/factories.js';
import { issuesOf } from '../../support/responses.js';
import { expectNoChange, stateOf } from '../../support/state.js';

const maxInt64 = 9223372036854775807n;

let t: TestApp;
beforeEach(async () => {
  t = await startOwnApp();
});

const seconds = () => BigInt(Math.floor(t.clock.now.getTime() / 1000));

async function stored(keyID = 'k1') {
  const { key } = await stateOf(t, keyID);
  if (!key) throw new Error('The key of the test is not there.');
  return key;
}

async function updated(definition: unknown, query = '', headers = {}) {
  const response = await t.update('k1', definition, query, headers);
  expect(response.text).toContain('"status":"ok"');
  return stored();
}

async function rejected(definition: unknown, query = ''): Promise<string[]> {
  const response = await expectNoChange(t, () => t.update('k1', definition, query));
  expect(response.status).toBe(400);
  return issuesOf(response);
}

describe('updateOrgKey', () => {
  it('replaces the definition: absent fields are removed', async () => {
    const { key_id, ...rest } = { key_id: 'k1', ...fullUpdate };
    await t.importKeys({ key_id, ...rest, hmac_string: null, jwt_data: null });
    expect(Object.keys((await stored()).definition).length).toBeGreaterThan(25);
    expect((await updated({ alias: 'only this' })).definition).toStrictEqual({ alias: 'only this' });
    expect((await updated({})).definition).toStrictEqual({});
  });

  it('treats null like an absent field', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'before', rate: 1, per: 1 });
    expect((await updated({ alias: null, rate: null, per: 2, smoothing: null, tags: null })).definition).toStrictEqual({
      per: 2,
    });
  });

  it('increments the version', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    for (const version of [2, 3, 4]) expect((await updated({ rate: version })).version).toBe(version);
    expect(
      (await stateOf(t, 'k1')).audit.map(({ versionBefore, versionAfter }) => [versionBefore, versionAfter]),
    ).toStrictEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ]);
  });

  it('keeps the identifier, the hash and the creation time', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', date_created: '2020-05-06T07:08:09.5+02:00' });
    const before = await stored();
    t.clock.now = new Date('2027-01-01T00:00:00Z');
    const after = await updated({ alias: 'a', date_created: '2021-01-01T00:00:00Z' });
    expect(after.dateCreated).toBe('2020-05-06T05:08:09.5Z');
    expect(after.keyHash).toBe(before.keyHash);
    expect(after.sealedKeyID).toStrictEqual(before.sealedKeyID);
  });

  it('ignores server-owned fields with a warning, because dashboards send back what they read', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const { body } = await t.update('k1', { date_created: '2021-01-01T00:00:00Z', last_updated: '17' });
    expect(body['warnings']).toMatchObject([
      { path: 'date_created', code: 'SERVER_OWNED' },
      { path: 'last_updated', code: 'SERVER_OWNED' },
      { path: 'access_rights', code: 'NO_ACCESS_RIGHTS' },
    ]);
    expect(await stored()).toMatchObject({ lastUpdated: seconds(), definition: {} });
    expect((await stored()).dateCreated).not.toContain('2021');
    const changed = await updated({ alias: 'a', date_created: '2021-01-01T00:00:00Z', last_updated: '17' });
    expect(changed.lastUpdated).toBe(seconds() + 1n);
    expect(changed.definition).toStrictEqual({ alias: 'a' });
  });
});

describe('lastUpdated', () => {
  it('is the time of the update', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    t.clock.now = new Date('2026-06-01T00:00:00.999Z');
    expect((await updated({ alias: 'a' })).lastUpdated).toBe(1780272000n);
  });

  it('increases with each update within one second', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const start = seconds();
    for (const step of [1n, 2n, 3n]) {
      expect((await updated({ quota_max: Number(step) })).lastUpdated).toBe(start + step);
    }
  });

  it('C-05 increases when the clock goes back, and follows the clock again afterwards', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const start = seconds();
    t.clock.now = new Date(t.clock.now.getTime() - 86_400_000);
    expect((await updated({ alias: 'a' })).lastUpdated).toBe(start + 1n);
    t.clock.now = new Date(t.clock.now.getTime() + 86_410_000);
    expect((await updated({ alias: 'b' })).lastUpdated).toBe(start + 10n);
  });

  it('increases from the latest time that an import accepts', async () => {
    const line = (digits: string) => ({ key_id: 'k1', org_id: 'acme', last_updated: digits });
    await expect(t.importKeys(line('9223372036854775808'))).rejects.toThrow('last_updated');
    await expect(t.importKeys(line('9223372036854775807'))).rejects.toThrow('last_updated');
    await t.importKeys(line('9000000000000000000'));
    expect((await updated({ alias: 'a' })).lastUpdated).toBe(9000000000000000001n);
  });
});

describe('org_id', () => {
  beforeEach(() => t.importKeys({ key_id: 'k1', org_id: 'acme' }));

  it('stays the same when it is absent, null or equal', async () => {
    for (const definition of [{}, { org_id: null }, { org_id: 'acme' }]) {
      const key = await updated(definition);
      expect(key.orgID).toBe('acme');
      expect(key.definition).not.toHaveProperty('orgID');
    }
  });

  it.each(['globex', 'ACME', ' acme', 'acme '])('does not change to %j', async (orgID) => {
    expect(await rejected({ org_id: orgID })).toStrictEqual(['org_id ORGANIZATION_CHANGED']);
  });
});

describe('the encrypted secrets of an update', () => {
  const open = async (secret: 'jwtSecret' | 'hmacString') => {
    const { keyHash, secrets } = await stored();
    const sealed = secrets[secret];
    return sealed && t.app.services.sealer.open(sealed, aadFor(keyHash, secret));
  };
  beforeEach(() =>
    t.importKeys({ key_id: 'k1', org_id: 'acme', jwt_data: { secret: 'jwt-1' }, hmac_string: 'hmac-1' }),
  );

  it('stay the same when they are absent, also with an empty jwt_data', async () => {
    for (const definition of [{}, { jwt_data: {} }]) {
      await updated(definition);
      expect([await open('jwtSecret'), await open('hmacString')]).toStrictEqual(['jwt-1', 'hmac-1']);
    }
  });

  it('are replaced by new values', async () => {
    await updated({ jwt_data: { secret: 'jwt-2' }, hmac_string: 'hmac-2' });
    expect([await open('jwtSecret'), await open('hmacString')]).toStrictEqual(['jwt-2', 'hmac-2']);
  });

  it('are cleared by null, each separately', async () => {
    await updated({ jwt_data: { secret: null } });
    expect([await open('jwtSecret'), await open('hmacString')]).toStrictEqual([undefined, 'hmac-1']);
    await updated({ hmac_string: null });
    expect([await open('jwtSecret'), await open('hmacString')]).toStrictEqual([undefined, undefined]);
  });

  it('are cleared by null for their object', async () => {
    await updated({ jwt_data: null });
    expect(await open('jwtSecret')).toBeUndefined();
  });

  it.each(['<PASSWORD>', '***', '*', '••••', '●●', '<secret>', '<>'])(
    'are not replaced by the mask %j',
    async (mask) => {
      expect(
        await rejected({ jwt_data: { secret: mask }, hmac_string: mask, basic_auth_data: { password: mask } }),
      ).toStrictEqual([
        'basic_auth_data.password MASKED_SECRET',
        'hmac_string MASKED_SECRET',
        'jwt_data.secret MASKED_SECRET',
      ]);
    },
  );
});

describe('the password of an update', () => {
  beforeEach(() => t.importKeys({ key_id: 'k1', org_id: 'acme' }));
  const hashed = async () => (await stored()).secrets.passwordHash ?? '';

  it('is stored as a bcrypt hash, and the definition names the hash type', async () => {
    const { definition } = await updated({ basic_auth_data: { user: 'u', password: 'correct horse' } });
    expect(definition).toStrictEqual({ basicAuthData: { hashType: 'bcrypt', user: 'u' } });
    expect(await verifyBcrypt('correct horse', await hashed())).toBe(true);
  });

  it('is stored as an argon2id hash on request', async () => {
    const { definition } = await updated({ basic_auth_data: { hash_type: 'argon2id', password: 'correct horse' } });
    expect(definition.basicAuthData).toStrictEqual({ hashType: 'argon2id' });
    expect(await hashed()).toMatch(/^\$argon2id\$/);
    expect(await verify(await hashed(), 'correct horse')).toBe(true);
  });

  it('stays the same when it is absent, with its hash type', async () => {
    await updated({ basic_auth_data: { user: 'u', password: 'correct horse' } });
    const before = await hashed();
    for (const definition of [{}, { basic_auth_data: {} }, { basic_auth_data: { hash_type: 'bcrypt', user: 'v' } }]) {
      const key = await updated(definition);
      expect(await hashed()).toBe(before);
      expect(key.definition.basicAuthData?.hashType).toBe('bcrypt');
    }
    expect((await updated({})).definition).toStrictEqual({ basicAuthData: { hashType: 'bcrypt' } });
  });

  it('is cleared by null, and by null for its object', async () => {
    for (const clearing of [{ password: null, user: 'u' }, null]) {
      await updated({ basic_auth_data: { password: 'correct horse' } });
      await updated({ basic_auth_data: clearing });
      expect(await hashed()).toBe('');
    }
    expect((await stored()).definition).toStrictEqual({});
  });

  it('is required when the hash type changes', async () => {
    await updated({ basic_auth_data: { password: 'correct horse' } });
    expect(await rejected({ basic_auth_data: { hash_type: 'argon2id' } })).toStrictEqual([
      'basic_auth_data.hash_type PASSWORD_NEEDED',
    ]);
    await updated({ basic_auth_data: { hash_type: 'argon2id', password: 'correct horse' } });
    expect(await hashed()).toMatch(/^\$argon2id\$/);
    expect(await rejected({ basic_auth_data: { hash_type: 'bcrypt' } })).toStrictEqual([
      'basic_auth_data.hash_type PASSWORD_NEEDED',
    ]);
  });

  it('is optional when a hash type is named, and when it is cleared', async () => {
    expect((await updated({ basic_auth_data: { hash_type: 'argon2id' } })).definition.basicAuthData?.hashType).toBe(
      'argon2id',
    );
    await updated({ basic_auth_data: { password: 'correct horse' } });
    await updated({ basic_auth_data: { hash_type: 'argon2id', password: null } });
    expect(await hashed()).toBe('');
  });

  it.each(['md5', 'sha256', 'SHA-1', 'plain', 'murmur64', 'none'])('rejects the weak hash type %j', async (type) => {
    expect(await rejected({ basic_auth_data: { hash_type: type } })).toStrictEqual([
      'basic_auth_data.hash_type WEAK_HASH',
    ]);
  });

  it.each(['Bcrypt', 'argon2i', 'scrypt'])('rejects the unknown hash type %j', async (type) => {
    expect(await rejected({ basic_auth_data: { hash_type: type } })).toStrictEqual([
      'basic_auth_data.hash_type UNKNOWN_HASH_TYPE',
    ]);
  });
});

describe('the quota in an update', () => {
  const spent = {
    key_id: 'k1',
    org_id: 'acme',
    quota_max: 100,
    quota_remaining: 30,
    quota_renewal_rate: 3600,
    quota_renews: 1893456000,
  };

  it('keeps its count without a reset, for every definition', async () => {
    await t.importKeys(spent);
    const before = (await stored()).quota;
    expect(before).toStrictEqual({ used: 70n, renews: 1893456000n });
    const after = await updated({ quota_max: 5, quota_remaining: 5, quota_renews: 17, quota_renewal_rate: 60 });
    expect(after.quota).toStrictEqual(before);
    expect(after.definition).toStrictEqual({
      quotaMax: 5n,
      quotaRemaining: 5n,
      quotaRenewalRate: 60n,
      quotaRenews: 17n,
    });
  });

  it('starts again with a reset: nothing used, all remaining, renewed after one period of the new definition', async () => {
    await t.importKeys(spent);
    const { quota, definition } = await updated(
      { quota_max: 500, quota_remaining: 1, quota_renewal_rate: 60, quota_renews: 17 },
      '?reset_quota=1',
    );
    expect(quota).toStrictEqual({ used: 0n, renews: seconds() + 60n });
    expect(definition).toStrictEqual({
      quotaMax: 500n,
      quotaRemaining: 500n,
      quotaRenewalRate: 60n,
      quotaRenews: seconds() + 60n,
    });
  });

  it.each([0, -1, undefined])('keeps its renewal time if it does not renew (rate %s)', async (rate) => {
    await t.importKeys(spent);
    const { quota, definition } = await updated(
      { quota_max: 9, quota_renews: 17, ...(rate !== undefined && { quota_renewal_rate: rate }) },
      '?reset_quota=1',
    );
    expect(quota).toStrictEqual({ used: 0n, renews: 1893456000n });
    expect(definition).toMatchObject({ quotaMax: 9n, quotaRemaining: 9n, quotaRenews: 17n });
  });

  it('stays unlimited after a reset', async () => {
    await t.importKeys(spent);
    const { quota, definition } = await updated(
      { quota_max: -1, quota_remaining: 7, quota_renewal_rate: 60 },
      '?reset_quota=1',
    );
    expect(quota.used).toBe(0n);
    expect(definition).toMatchObject({ quotaMax: -1n, quotaRemaining: -1n });
  });

  it('is reset if the definition does not contain it, and no field is added', async () => {
    await t.importKeys(spent);
    const { quota, definition } = await updated({}, '?reset_quota=1');
    expect(quota).toStrictEqual({ used: 0n, renews: 1893456000n });
    expect(definition).toStrictEqual({});
    expect((await stateOf(t, 'k1')).audit.at(-1)?.quotaUsedBeforeReset).toBe(70n);
  });

  it('is not reset if its next period would end beyond 64 bits', async () => {
    await t.importKeys(spent);
    const definition = (rate: bigint) => ({ quota_max: 1, quota_renewal_rate: rate });
    expect(await rejected(definition(maxInt64 - seconds() + 1n), '?reset_quota=1')).toStrictEqual([
      'quota_renewal_rate OUT_OF_RANGE',
    ]);
    const { quota } = await updated(definition(maxInt64 - seconds()), '?reset_quota=1');
    expect(quota.renews).toBe(maxInt64);
  });

  it('keeps 64 bits exactly', async () => {
    await t.importKeys({ ...spent, quota_max: maxInt64, quota_remaining: 1 });
    expect((await stored()).quota.used).toBe(maxInt64 - 1n);
    await updated({ quota_max: maxInt64 }, '?reset_quota=1');
    expect((await stateOf(t, 'k1')).audit.at(-1)?.quotaUsedBeforeReset).toBe(maxInt64 - 1n);
    expect((await stored()).definition.quotaRemaining).toBe(maxInt64);
  });
});

describe('the quota of an import', () => {
  it('keeps the end of its period, also if it does not renew', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme', quota_max: 1, quota_renews: 1893456000 });
    expect((await stored()).quota).toStrictEqual({ used: 0n, renews: 1893456000n });
  });
});

describe('concurrent updates of one key', () => {
  it('are all counted, one after the other', async () => {
    await t.importKeys({ key_id: 'k1', org_id: 'acme' });
    const tags = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        (await t.update('k1', { alias: `a${index}` })).headers.get('etag'),
      ),
    );
    expect([...tags].sort()).toStrictEqual(Array.from({ length: 50 }, (_, index) => `"${index + 2}"`).sort());
    expect((await stored()).version).toBe(51);
    expect((await stateOf(t, 'k1')).audit).toHaveLength(51);
  });
});
