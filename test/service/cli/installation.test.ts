import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const ring = () => join(c.folder, 'key-ring.json');
const database = () => join(c.folder, 'keyfront.db');
const pepper = 'x'.repeat(32);

const withKeys = (env?: Record<string, string>) =>
  c.importKeys([{ key_id: 'k1', org_id: 'acme', hmac_string: 's' }], env);
const open = (env: Record<string, string> = {}) => c.keyfront(['keys', 'export', '--with-secrets'], env);

describe('a data folder', () => {
  it('is rejected without its key ring, and no new key ring is created', async () => {
    await withKeys();
    await rm(ring());
    const { code, out, stderr } = await open();
    expect([code, out]).toStrictEqual([1, '']);
    expect(stderr).toBe(
      `The key ring ${ring()} does not exist, and the database ${database()} needs the one it was written with.\n`,
    );
    expect(existsSync(ring())).toBe(false);
  });

  it('S-07 is rejected with the key ring of another folder, and no file is changed', async () => {
    await withKeys();
    const other = await makeOwnCommandLine();
    await other.create();
    await rename(ring(), `${ring()}.own`);
    await copyFile(join(other.folder, 'key-ring.json'), ring());
    const before = [await readFile(ring()), await readFile(database())];
    for (const args of [
      ['keys', 'export'],
      ['secrets', 'rotate'],
      ['secrets', 'prune'],
    ]) {
      const { code, stderr } = await c.keyfront(args);
      expect(code).toBe(1);
      expect(stderr).toBe(`The key ring ${ring()} is not the one that the database ${database()} was written with.\n`);
    }
    expect([await readFile(ring()), await readFile(database())]).toStrictEqual(before);
    await rename(`${ring()}.own`, ring());
    expect((await open()).out).toContain('"hmac_string":"s"');
  });

  it('is rejected if its key ring is malformed, without quoting it', async () => {
    await withKeys();
    await writeFile(ring(), '{"keys": [hunter2', { mode: 0o600 });
    expect(await open()).toMatchObject({ code: 1, stderr: `The key ring ${ring()} is malformed: it is not JSON.\n` });
  });

  it('can have its key ring elsewhere', async () => {
    const elsewhere = { KEYFRONT_KEY_RING: join(c.folder, '..', 'ring.json') };
    await withKeys(elsewhere);
    expect(existsSync(ring())).toBe(false);
    expect((await open(elsewhere)).out).toContain('"hmac_string":"s"');
    expect((await open()).code).toBe(1);
  });

  it('is rejected if its file is not a database', async () => {
    await c.create();
    await writeFile(database(), 'not a database, but long enough to be looked at '.repeat(50));
    const { code, stderr } = await open();
    expect([code, stderr]).toStrictEqual([1, `The database ${database()} cannot be used: file is not a database\n`]);
  });
});

describe('KEYFRONT_KEY_HASH', () => {
  it('cannot change once there are keys, and the error names the current one and a solution', async () => {
    await withKeys();
    const { code, stderr } = await open({ KEYFRONT_KEY_HASH: 'murmur64' });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The keys of this database were hashed with KEYFRONT_KEY_HASH=sha256\. Start with that setting; or, to change it, /,
    );
    expect((await open({ KEYFRONT_KEY_HASH: 'sha256' })).code).toBe(0);
  });

  it('can change while there are no keys', async () => {
    await c.create();
    expect((await open({ KEYFRONT_KEY_HASH: 'murmur128' })).code).toBe(0);
    await withKeys({ KEYFRONT_KEY_HASH: 'murmur128' });
    expect((await open()).stderr).toContain('KEYFRONT_KEY_HASH=murmur128');
  });

  it('rejects a changed pepper of hmac-sha256 without showing it', async () => {
    const env = { KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: pepper };
    await withKeys(env);
    expect((await open(env)).code).toBe(0);
    const { code, stderr } = await open({ ...env, KEYFRONT_KEY_HASH_PEPPER: 'y'.repeat(32) });
    expect(code).toBe(1);
    expect(stderr).toContain('another KEYFRONT_KEY_HASH_PEPPER');
    expect(stderr).not.toMatch(/x{32}|y{32}|[0-9a-f]{64}/);
    expect((await readFile(database())).includes(pepper)).toBe(false);
  });
});

describe('the settings', () => {
  it('O-08 report all their problems at once', async () => {
    const { code, stderr } = await c.keyfront(['serve'], {
      HOST: '0.0.0.0',
      PORT: '70000',
      LOG_LEVEL: 'loud',
      KEYFRONT_KEY_HASH: 'md5',
      KEYFRONT_GRAPHIQL: 'yes',
      KEYFRONT_NONSENSE_ALTOGETHER: 'x',
    });
    expect(code).toBe(1);
    const [first, ...problems] = stderr.trimEnd().split('\n');
    expect(first).toBe('Invalid configuration:');
    expect(problems.map((problem) => problem.trim().split(/[: ]/, 1)[0]).sort()).toStrictEqual([
      'HOST',
      'KEYFRONT_GRAPHIQL',
      'KEYFRONT_KEY_HASH',
      'KEYFRONT_NONSENSE_ALTOGETHER',
      'LOG_LEVEL',
      'PORT',
    ]);
    expect(existsSync(c.folder)).toBe(false);
  });

  it('S-08 never show the value of a secret setting', async () => {
    const { stderr } = await open({ KEYFRONT_KEY_HASH: 'hmac-sha256', KEYFRONT_KEY_HASH_PEPPER: 'hunter2' });
    expect(stderr).toContain('KEYFRONT_KEY_HASH_PEPPER must have at least 32 bytes');
    expect(stderr).not.toContain('hunter2');
  });
});

it.each([
  ['keys', 'import', 'keys.jsonl'],
  ['serve'],
  ['init'],
  ['restore', 'copy'],
  ['migrate-store'],
  ['check'],
  ['backup', 'copy'],
  ['secrets', 'rotate'],
])('rejects KEYFRONT_URL for %s %s, which works on the data folder only', async (...args) => {
  await c.create();
  const { code, out, stderr } = await c.keyfront(args, { KEYFRONT_URL: 'https://keys.example.com' });
  expect([code, out, stderr]).toStrictEqual([2, '', expect.stringContaining('works on the data folder only')]);
});
