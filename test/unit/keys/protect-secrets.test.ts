import { describe, expect, it } from 'vitest';
import { protectSecrets, sealedSecretsOf } from '../../../src/keys/protect-secrets.js';
import { aKey } from '../../support/factories.js';

const deps = {
  hashPassword: (password: string, type: string) => Promise.resolve(`${type} of ${password}`),
  seal: (plaintext: string, aad: string) => Buffer.from(`${plaintext} for ${aad}`),
};

describe('protectSecrets', () => {
  it('hashes the password and seals the other secrets for their key and their name', async () => {
    const secrets = { password: 'p', jwtSecret: 'j', hmacString: 'h' };
    expect(await protectSecrets(deps, 'hash', secrets, 'argon2id')).toStrictEqual({
      passwordHash: 'argon2id of p',
      jwtSecret: Buffer.from('j for keys|hash|jwtSecret'),
      hmacString: Buffer.from('h for keys|hash|hmacString'),
    });
  });

  it.each([undefined, null, '', 'md5'])('hashes a password with bcrypt when its hash type is %j', async (type) => {
    expect(await protectSecrets(deps, 'hash', { password: 'p' }, type)).toStrictEqual({ passwordHash: 'bcrypt of p' });
  });

  it('clears the secrets that are null, and keeps those that are absent', async () => {
    const cleared = { password: null, jwtSecret: null, hmacString: null };
    expect(await protectSecrets(deps, 'hash', cleared, 'bcrypt')).toStrictEqual({
      passwordHash: null,
      jwtSecret: null,
      hmacString: null,
    });
    expect(await protectSecrets(deps, 'hash', {}, 'bcrypt')).toStrictEqual({});
  });
});

describe('sealedSecretsOf', () => {
  it('returns the sealed values that a key has, each with its associated data', () => {
    const key = aKey(1);
    const keyID = { name: 'keyID', sealed: key.sealedKeyID, aad: `keys|${key.keyHash}|keyID` };
    expect(sealedSecretsOf(key)).toStrictEqual([keyID]);
    const secrets = { passwordHash: 'p', jwtSecret: Uint8Array.of(1), hmacString: Uint8Array.of(2) };
    expect(sealedSecretsOf({ ...key, secrets })).toStrictEqual([
      keyID,
      { name: 'jwtSecret', sealed: secrets.jwtSecret, aad: `keys|${key.keyHash}|jwtSecret` },
      { name: 'hmacString', sealed: secrets.hmacString, aad: `keys|${key.keyHash}|hmacString` },
    ]);
  });
});
