import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startOwnApp, type TestApp } from '../../support/app.js';

/* KEYFRONT_KEY_HASH from the environment to the responses of both APIs. The pairs are the ones that gateways published. */

const pepper = 'pepper that is longer than 32 bytes';

const plain = '5e9d9544a1dcd60001d0ed20e7f75f9e03534825b7aef9df749582e5';
const token = 'eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6ImdycGNfaG1hY19rZXkiLCJoIjoibXVybXVyNjQifQ==';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The hash of an identifier in the preview of each API. */
async function hashes(t: TestApp, keyID: string): Promise<unknown[]> {
  const rest = await t.preview({ key_id: keyID });
  const graphql = await t.graphql('query($id: ID) { previewKey(input: {keyID: $id}) { keyHash } }', { id: keyID });
  return [rest.body['key_hash'], (graphql.body['data'] as { previewKey: { keyHash: string } }).previewKey.keyHash];
}

describe('KEYFRONT_KEY_HASH', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['is sha256 if it is not set', {}, plain, sha256(plain)],
    ['sha256, for every algorithm in a token', { KEYFRONT_KEY_HASH: 'sha256' }, token, sha256(token)],
    [
      'hmac-sha256',
      { KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: pepper },
      plain,
      createHmac('sha256', pepper).update(plain).digest('hex'),
    ],
    ['murmur32', { KEYFRONT_KEY_HASH: 'murmur32' }, plain, '41c5cb1e'],
    ['murmur32, with a token that names murmur64', { KEYFRONT_KEY_HASH: 'murmur32' }, token, 'a72fcdc09caa86b5'],
    ['murmur64', { KEYFRONT_KEY_HASH: 'murmur64' }, 'hello', 'cbd8a7b341bd9b02'],
    ['murmur128', { KEYFRONT_KEY_HASH: 'murmur128' }, 'hello, world', '342fac623a5ebc8e4cdcbc079642414d'],
  ])('%s', async (_, env, keyID, hash) => {
    const t = await startOwnApp(env);
    expect(await hashes(t, keyID)).toEqual([hash, hash]);
  });

  it.each(['sha256', 'hmac-sha256', 'murmur32', 'murmur64', 'murmur128'])(
    'finds with %s the key that an update names',
    async (algorithm) => {
      const peppered = algorithm === 'hmac-sha256' && { KEYFRONT_KEY_HASH_PEPPER: pepper };
      const t = await startOwnApp({ KEYFRONT_KEY_HASH: algorithm, ...peppered });
      await t.importKeys({ key_id: plain, org_id: 'acme' });
      const [hash] = await hashes(t, plain);
      expect((await t.update(plain, { alias: 'x' })).body).toMatchObject({ key: plain, key_hash: hash });
      expect((await t.update(`${plain}0000`, {})).status).toBe(404);
    },
  );
});
