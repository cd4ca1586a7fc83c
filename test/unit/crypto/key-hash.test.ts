import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyHash, keyHashAlgorithms } from '../../../src/crypto/key-hash.js';
import { murmur128, murmur32Legacy, murmur64 } from '../../../src/crypto/murmur.js';

const pepper = 'p'.repeat(32);
const plainID = '5e9d9544a1dcd60001d0ed20e7f75f9e03534825b7aef9df749582e5';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const tokenOf = (h: unknown) => base64(JSON.stringify({ org: '5e9d9544a1dcd60001d0ed20', id: 'one', h }));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a token with an escaped member name', () => {
  it('names its algorithm, after a token whose member name is a backslash', () => {
    const hash = createKeyHash('murmur32');
    const first = base64(String.raw`{"b":"","\\":0,"":0} `.padEnd(42));
    const second = base64(String.raw`{"b":"","\u0068":"murmur64","org":"o","id":"i"}`.padEnd(60));
    // Node 24 and 26 misread the second one (https://github.com/nodejs/node/issues/63785).
    for (let round = 0; round < 100; round += 1) {
      hash(first);
      expect(hash(second)).toBe(murmur64(Buffer.from(second)));
    }
  });
});

describe('a cryptographic algorithm', () => {
  it.each([plainID, 'ключ', tokenOf('murmur32')])('applies to every ID, for every algorithm in a token: %s', (id) => {
    expect(createKeyHash('sha256')(id)).toBe(sha256(id));
    expect(createKeyHash('hmac-sha256', pepper)(id)).toBe(createHmac('sha256', pepper).update(id).digest('hex'));
  });

  it('accepts a pepper in bytes', () => {
    expect(createKeyHash('hmac-sha256', Buffer.from(pepper))('a')).toBe(createKeyHash('hmac-sha256', pepper)('a'));
  });

  it.each([undefined, '', 'p'.repeat(31), new Uint8Array(31)])('rejects a missing or short pepper', (short) => {
    expect(() => createKeyHash('hmac-sha256', short)).toThrow(/KEYFRONT_KEY_HASH_PEPPER.*32 bytes/);
  });

  it('counts the pepper in bytes', () => {
    expect(createKeyHash('hmac-sha256', 'ы'.repeat(16))('a')).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a murmur algorithm', () => {
  const murmurs = [
    ['murmur32', murmur32Legacy],
    ['murmur64', murmur64],
    ['murmur128', murmur128],
  ] as const;

  it.each(murmurs)('%s hashes an ID that is not a token itself', (algorithm, digest) => {
    expect(createKeyHash(algorithm)(plainID)).toBe(digest(Buffer.from(plainID)));
  });

  it.each(murmurs)('%s leaves the choice to a token, and hashes the whole token', (algorithm) => {
    const hash = createKeyHash(algorithm);
    for (const [named, digest] of murmurs) expect(hash(tokenOf(named))).toBe(digest(Buffer.from(tokenOf(named))));
    expect(hash(tokenOf('sha256'))).toBe(sha256(tokenOf('sha256')));
  });

  it('returns the hash that gateways store for a known token', () => {
    const token = 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6ImdycGNfaG1hY19rZXkiLCJoIjoibXVybXVyNjQifQ==';
    expect(createKeyHash('murmur32')(token)).toBe('a72fcdc09caa86b5');
  });

  it.each(['', 'md5', 'constructor', '__proto__', 'hmac-sha256'])('uses murmur32 for the unknown name "%s"', (h) => {
    expect(createKeyHash('murmur128')(tokenOf(h))).toBe(murmur32Legacy(Buffer.from(tokenOf(h))));
  });

  it.each([
    ['an h that is no string', tokenOf(7)],
    ['no h', base64('{"org":"o","id":"i"}')],
    ['no org', base64('{"id":"i","h":"sha256"}')],
    ['no id', base64('{"org":"o","h":"sha256"}')],
    ['white space before the JSON', base64(' {"org":"o","id":"i","h":"sha256"}')],
    ['padding cut off', base64('{"org":"o","id":"i","h":"sha256"} ').replace(/=+$/, '')],
    ['text after the token', `${tokenOf('sha256')}.abcd`],
    ['no JSON', `eyJv${'A'.repeat(8)}`],
    ['nothing but the prefix', 'ey'],
  ])('treats an ID with %s like any other ID', (_, id) => {
    expect(createKeyHash('murmur64')(id)).toBe(murmur64(Buffer.from(id)));
  });
});

it('returns lower-case hex for every algorithm', () => {
  for (const algorithm of keyHashAlgorithms) expect(createKeyHash(algorithm, pepper)(plainID)).toMatch(/^[0-9a-f]+$/);
});
