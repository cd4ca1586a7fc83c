import { describe, expect, it } from 'vitest';
import { createToken, hashToken, isTokenShaped, tokenPattern } from '../../../src/credentials/token.js';
import { credentialKinds } from '../../../src/credentials/credential.js';

describe('a token', () => {
  it.each([
    ['management', /^kf_mgt_[0-9A-Za-z]{38}$/],
    ['service', /^kf_svc_[0-9A-Za-z]{38}$/],
  ] as const)('has a prefix for the kind %s, and 45 characters that need no quoting', (kind, form) => {
    for (let count = 0; count < 100; count += 1) {
      const token = createToken(kind);
      expect(token).toMatch(form);
      expect(token).toMatch(tokenPattern);
      expect(isTokenShaped(token)).toBe(true);
    }
  });

  it('is different each time', () => {
    const tokens = Array.from({ length: 1000 }, () => createToken('service'));
    expect(new Set(tokens).size).toBe(1000);
  });

  it('uses every one of its 62 characters', () => {
    const text = Array.from({ length: 200 }, () => createToken('service').slice(7, 39)).join('');
    expect(new Set(text).size).toBe(62);
  });

  it.each(credentialKinds)('fails its checksum with one changed character, kind %s', (kind) => {
    const token = createToken(kind);
    for (let position = 7; position < token.length; position += 1) {
      const other = token.charAt(position) === 'a' ? 'b' : 'a';
      expect(isTokenShaped(token.slice(0, position) + other + token.slice(position + 1))).toBe(false);
    }
  });

  it('fails its checksum with two exchanged characters', () => {
    const token = createToken('management');
    const position = [...token].findIndex((character, index) => index > 7 && character !== token.charAt(index + 1));
    const swapped =
      token.slice(0, position) + token.charAt(position + 1) + token.charAt(position) + token.slice(position + 2);
    expect(isTokenShaped(swapped)).toBe(false);
  });

  it('fails its checksum with the prefix of the other kind', () => {
    expect(isTokenShaped(createToken('management').replace('mgt', 'svc'))).toBe(false);
  });

  it.each([
    (token: string) => token.slice(0, -1),
    (token: string) => `${token}a`,
    (token: string) => ` ${token}`,
    (token: string) => `${token}\n`,
    (token: string) => token.toLowerCase(),
    (token: string) => token.toUpperCase(),
    (token: string) => token.replace('kf_', 'kg_'),
    () => '',
    () => 'kf_mgt_',
  ])('is not recognized when cut, extended or in another case (%#)', (change) => {
    expect(isTokenShaped(change(createToken('management')))).toBe(false);
  });

  it('is hashed with SHA-256', () => {
    expect(Buffer.from(hashToken('abc')).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
