import { verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { describe, expect, it } from 'vitest';
import { createPasswordHasher, hashTypeOf } from '../../../src/crypto/password-hash.js';

const hasher = createPasswordHasher();
const overload = { code: 'UNAVAILABLE', retryAfterSeconds: 1 };

describe('PasswordHasher.hash', () => {
  it('creates a bcrypt hash of cost 10 that verifies', async () => {
    const hash = await hasher.hash('pässword', 'bcrypt');
    expect(hash).toMatch(/^\$2b\$10\$/);
    expect(hashTypeOf(hash)).toBe('bcrypt');
    expect(await verifyBcrypt('pässword', hash)).toBe(true);
    expect(await verifyBcrypt('password', hash)).toBe(false);
  });

  it('S-09 creates an Argon2id hash with the stated parameters that verifies', async () => {
    const password = `${'long '.repeat(30)}\0`;
    const hash = await hasher.hash(password, 'argon2id');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(hashTypeOf(hash)).toBe('argon2id');
    expect(await verify(hash, password)).toBe(true);
    expect(await verify(hash, 'long')).toBe(false);
  });

  it('uses a salt: the same password never has the same hash', async () => {
    for (const type of ['bcrypt', 'argon2id'] as const) {
      expect(await hasher.hash('p', type)).not.toBe(await hasher.hash('p', type));
    }
  });

  it('S-09 accepts 72 bytes for bcrypt and rejects what bcrypt would truncate', async () => {
    expect(await hasher.hash('é'.repeat(36), 'bcrypt')).toMatch(/^\$2b\$/);
    for (const password of ['a'.repeat(73), 'é'.repeat(37), 'a\0b']) {
      await expect(hasher.hash(password, 'bcrypt')).rejects.toMatchObject({ code: 'INVALID' });
    }
  });

  it('rejects a hash when the queue is full, and accepts one again afterwards', async () => {
    const small = createPasswordHasher({ concurrency: 1, queueLimit: 1 });
    const running = small.hash('a', 'bcrypt');
    const queued = small.hash('b', 'argon2id');
    await expect(small.hash('c', 'bcrypt')).rejects.toMatchObject(overload);
    expect((await Promise.all([running, queued])).map(hashTypeOf)).toEqual(['bcrypt', 'argon2id']);
    expect(hashTypeOf(await small.hash('c', 'bcrypt'))).toBe('bcrypt');
  });

  it('S-10 runs 2 and queues 32 by default', async () => {
    const fresh = createPasswordHasher();
    const results = await Promise.allSettled(Array.from({ length: 35 }, () => fresh.hash('p', 'argon2id')));
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: expect.objectContaining(overload) },
    ]);
  });
});

describe('hashTypeOf', () => {
  const salted = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxy';
  const phc = (parameters: string, salt = 'c29tZXNhbHQ', tag = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA') =>
    `$argon2id$${parameters}$${salt}$${tag}`;

  it.each(['$2a$04$', '$2b$10$', '$2y$31$'])('recognizes a bcrypt hash that starts with %s', (start) => {
    expect(hashTypeOf(`${start}${salted}`)).toBe('bcrypt');
  });

  it.each(['v=19$m=19456,t=2,p=1', 'v=16$m=8,t=1,p=1', 'v=19$m=4294967295,t=4294967295,p=4'])(
    'recognizes an Argon2id hash with %s',
    (parameters) => {
      expect(hashTypeOf(phc(parameters))).toBe('argon2id');
    },
  );

  it.each([
    '',
    'hunter2',
    '$2b$10$',
    `$2b$03$${salted}`,
    `$2b$32$${salted}`,
    `$2x$10$${salted}`,
    `$2$10$${salted}`,
    `$2b$10$${salted.slice(1)}`,
    `$2b$10$${salted}A`,
    `$2b$10$${salted}\n`,
    ` $2b$10$${salted}`,
    `$2b$10$${salted.replace('A', '+')}`,
    phc('v=19$m=19456,t=2,p=1').replace('argon2id', 'argon2i'),
    phc('m=19456,t=2,p=1'),
    phc('v=18$m=19456,t=2,p=1'),
    phc('v=19$t=2,m=19456,p=1'),
    phc('v=19$m=019456,t=2,p=1'),
    phc('v=19$m=19456,t=0,p=1'),
    phc('v=19$m=7,t=2,p=1'),
    phc('v=19$m=31,t=2,p=4'),
    phc('v=19$m=4294967296,t=2,p=1'),
    phc('v=19$m=19456,t=2,p=1', 'c29tZQ'),
    phc('v=19$m=19456,t=2,p=1', 'c29tZXNhbHQ='),
    phc('v=19$m=19456,t=2,p=1', 'c29tZXNhbHRzb'),
    phc('v=19$m=19456,t=2,p=1', 'c29tZXNhbHQ', 'AAAA'),
    `${phc('v=19$m=19456,t=2,p=1')}$`,
    `${phc('v=19$m=19456,t=2,p=1')}\n`,
  ])('does not accept %j as a hash', (text) => {
    expect(hashTypeOf(text)).toBeUndefined();
  });
});
