import { describe, expect, it } from 'vitest';
import { newKey } from '../../../src/keys/create.js';
import type { Definition } from '../../../src/keys/definition/normalize.js';
import { maxInt64 } from '../../../src/lib/int64.js';
import { aKey } from '../../support/factories.js';

const at = new Date('2026-11-20T12:00:00.5Z');
const seconds = 1795176000n;
const { keyHash, identity, sealedKeyID, orgID } = aKey(1);
const created = (definition: Definition, fields: Partial<Parameters<typeof newKey>[0]> = {}) =>
  newKey({
    keyHash,
    identity,
    sealedKeyID,
    orgID,
    definition,
    protectedSecrets: {},
    dates: {},
    at,
    policies: new Map(),
    ...fields,
  });

describe('a new key', () => {
  it('has version 1, the time of its creation, and no secret that was cleared', () => {
    expect(created({ alias: 'a' }, { protectedSecrets: { passwordHash: null, jwtSecret: null } })).toStrictEqual({
      ...aKey(1),
      dateCreated: '2026-11-20T12:00:00.500Z',
      lastUpdated: seconds,
      definition: { alias: 'a' },
    });
  });

  it('keeps the dates and the secrets of an import, and names the type of its password hash', () => {
    const protectedSecrets = { passwordHash: '$argon2id$x', jwtSecret: Uint8Array.of(1), hmacString: Uint8Array.of(2) };
    const dates = { dateCreated: '2020-05-06T07:08:09+02:00', lastUpdated: '17' };
    expect(created({ basicAuthData: { user: 'u' } }, { protectedSecrets, dates })).toMatchObject({
      dateCreated: '2020-05-06T05:08:09Z',
      lastUpdated: 17n,
      secrets: protectedSecrets,
      definition: { basicAuthData: { user: 'u', hashType: 'argon2id' } },
    });
  });

  it.each<[Definition, bigint, bigint | undefined]>([
    [{}, 0n, undefined],
    [{ quotaMax: 10n }, 0n, undefined],
    [{ quotaMax: 10n, quotaRemaining: 4n }, 6n, undefined],
    [{ quotaMax: 10n, quotaRemaining: 0n }, 10n, undefined],
    [{ quotaMax: 10n, quotaRemaining: 10n }, 0n, undefined],
    [{ quotaMax: 10n, quotaRemaining: 11n }, 0n, undefined],
    [{ quotaMax: 10n, quotaRemaining: -1n }, 0n, undefined],
    [{ quotaMax: -1n, quotaRemaining: 5n }, 0n, undefined],
    [{ quotaRenewalRate: 60n }, 0n, seconds + 60n],
    [{ quotaRenewalRate: 0n }, 0n, undefined],
    [{ quotaRenewalRate: -1n }, 0n, undefined],
    [{ quotaRenewalRate: 60n, quotaRenews: 1n }, 0n, 1n],
    [{ quotaRenewalRate: 60n, quotaRenews: 0n }, 0n, seconds + 60n],
    [{ quotaRenewalRate: maxInt64 - seconds }, 0n, maxInt64],
    [{ quotaRenewalRate: maxInt64, quotaRenews: 5n }, 0n, 5n],
  ])('with %o has the initial quota %s, which renews at %s', (definition, used, renews) => {
    expect(created(definition).quota).toStrictEqual({ used, renews });
  });

  it('is rejected when its first period would end after the largest 64-bit timestamp', () => {
    expect(() => created({ quotaRenewalRate: maxInt64 - seconds + 1n })).toThrow(
      expect.objectContaining({
        code: 'INVALID',
        issues: [
          {
            path: ['quotaRenewalRate'],
            code: 'OUT_OF_RANGE',
            message: 'must be smaller: the quota period would end after the largest 64-bit timestamp',
          },
        ],
      }) as Error,
    );
  });
});
