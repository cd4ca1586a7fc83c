import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash as argon2 } from '@node-rs/argon2';
import { hashSync as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { importLines } from '../../../src/cli/keys/import-lines.js';
import { stringifyJSON } from '../../../src/lib/json.js';
import { startOwnApp } from '../../support/app.js';
import { jsonLines, makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { fullUpdate } from '../../support/factories.js';
import { collectGarbage } from '../../support/garbage.js';
import { eventLoopTurns } from '../../support/until.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
});

const jsonl = (...lines: (object | string)[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : stringifyJSON(line)}\n`).join('');

async function imported(content: string | Uint8Array, ...options: string[]) {
  return c.keyfront(['keys', 'import', await c.file('keys.jsonl', content), ...options]);
}

async function exported(...options: string[]): Promise<Record<string, unknown>[]> {
  const { code, out } = await c.keyfront(['keys', 'export', ...options]);
  expect(code).toBe(0);
  return jsonLines(out);
}

// With a policy: an import counts a key without access as one with warnings.
const k = (key_id: string, more: object = {}) => ({ key_id, org_id: 'acme', apply_policies: ['gold'], ...more });

describe('keys import', () => {
  it('releases the chunks of its input that it has read', async () => {
    const chunks: WeakRef<Uint8Array>[] = [];
    async function* input() {
      for (let n = 0; n < 5; n += 1) {
        const chunk = Buffer.from(jsonl(k(`k${n}`)));
        chunks.push(new WeakRef(chunk));
        yield await Promise.resolve(chunk);
      }
      // A weak reference holds its target until the end of the task.
      await eventLoopTurns(1);
      collectGarbage();
      expect(chunks.slice(0, 3).map((chunk) => chunk.deref())).toStrictEqual([undefined, undefined, undefined]);
    }
    expect((await c.keyfront(['keys', 'import', '-'], {}, false, { input: input() })).code).toBe(0);
    expect(chunks).toHaveLength(5);
  });

  it('stores the lines that were read at a signal to stop, and states how to continue', async () => {
    let stop = (): void => undefined;
    async function* input() {
      yield Buffer.from(`${jsonl(k('k1'), k('k2'))}{"key_id": "k3", `);
      stop();
      await new Promise(() => undefined);
    }
    const args = ['keys', 'import', '-'];
    const onStop = (callback: () => void) => (stop = callback);
    expect(await c.keyfront(args, {}, false, { input: input(), onStop })).toStrictEqual({
      code: 130,
      out: '',
      stderr: [
        'Stopping: the lines that were read are stored first.\n',
        '2 imported, 0 skipped (already exist), 0 rejected.\n',
        'Stopped before the end. The same command continues: existing keys are skipped.\n',
      ].join(''),
    });
    const again = await c.keyfront(args, {}, false, { input: jsonl(k('k1'), k('k2'), k('k3')) });
    expect([again.code, again.stderr]).toStrictEqual([0, '1 imported, 2 skipped (already exist), 0 rejected.\n']);
  });

  it('counts the keys that have expired before, which have no event', async () => {
    const past = Math.floor(Date.now() / 1000) - 40 * 86_400;
    const file = jsonl(
      ...['k1', 'k2'].map((id) => k(id, { expires: past })),
      k('k3', { expires: 4_000_000_000 }),
      k('k4'),
    );
    const { stderr } = await imported(file);
    expect(stderr).toContain('Expired before the import: 2 of these keys. They have no event;');
    const again = await imported(file);
    expect(again.stderr).not.toContain('Expired before');
    const json = await imported(
      jsonl(k('k1', { expires: past + 1 }), k('k2', { expires: past })),
      '--update',
      '--json',
    );
    expect(JSON.parse(json.out)).toMatchObject({ updated: 1, existing: 1, expired: 1 });
    const dry = await imported(jsonl(k('k9', { expires: past })), '--dry-run', '--json');
    expect([JSON.parse(dry.out), dry.stderr]).toMatchObject([
      { imported: 1, expired: 1 },
      expect.not.stringContaining('Expired'),
    ]);
  });

  it('updates password hashes with --update and --passwords-are-hashed', async () => {
    const [before, after] = [hashBcrypt('before', 4), hashBcrypt('after', 4)];
    const line = (password: string) => jsonl(k('k1', { basic_auth_data: { user: 'u', password } }));
    await imported(line(before), '--passwords-are-hashed');
    const again = await imported(line(before), '--update', '--passwords-are-hashed');
    expect(again.stderr).toBe('0 imported, 0 updated, 1 unchanged, 0 rejected.\n');
    const { stderr } = await imported(line(after), '--update', '--passwords-are-hashed');
    expect(stderr).toBe('0 imported, 1 updated, 0 unchanged, 0 rejected.\n');
    expect(await exported('--with-secrets')).toMatchObject([{ basic_auth_data: { password: after } }]);
  });

  it.each([
    ['writes few keys per transaction if storage is slow, so that other writers do not wait', 10, [20, 20, 10]],
    ['writes as many keys per transaction as storage writes in 200 ms', 2, [20, 100, 100, 50]],
    ['writes at most 1,000 keys per transaction if storage is fast', 0.1, [20, 1000, 1000, 30]],
  ])('%s', async (_name, msPerKey, expected) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const lines = expected.reduce((sum, size) => sum + size);
    const { app } = await startOwnApp();
    const { ports, store } = app.services;
    const sizes: number[] = [];
    const add: typeof store.add = async (keys) => {
      sizes.push(keys.length);
      vi.advanceTimersByTime(keys.length * msPerKey);
      return store.add(keys);
    };
    const counts = await importLines(
      { ports, store: { add } },
      Array.from({ length: lines }, (_line, index) => stringifyJSON(k(`k${index}`))),
      { orgID: undefined, passwordsAreHashed: false },
      { onInvalidLine: () => undefined, onProgress: () => undefined },
    );
    expect(counts).toStrictEqual({ imported: lines, updated: 0, existing: 0, invalid: 0, warned: 0, expired: 0 });
    expect(sizes).toStrictEqual(expected);
  });

  it('reads lines that end in CRLF, a byte order mark, and a last line without a line feed', async () => {
    const { stderr } = await imported(`\ufeff${stringifyJSON(k('k1'))}\r\n\r\n${stringifyJSON(k('k2'))}`);
    expect(stderr).toBe('2 imported, 0 skipped (already exist), 0 rejected.\n');
  });

  it('ends a line only at a line feed', async () => {
    const key = k('k1', { alias: 'a\u2028b\u2029c\u0085d' });
    const { stderr } = await imported(jsonl(key));
    expect(stderr).toBe('1 imported, 0 skipped (already exist), 0 rejected.\n');
    expect(await exported()).toMatchObject([{ alias: 'a\u2028b\u2029c\u0085d' }]);
  });

  it('rejects a line that is not UTF-8 and imports the others', async () => {
    const bad = Buffer.from(jsonl(k('k\u00e9')), 'latin1');
    const { stderr } = await imported(Buffer.concat([bad, Buffer.from(jsonl(k('k\u00e9', { alias: 'good' })))]));
    expect(stderr).toBe('line 1: The line is not valid UTF-8.\n1 imported, 0 skipped (already exist), 1 rejected.\n');
  });

  it('reads a line that is longer than a chunk of the file', async () => {
    const meta_data = { text: Array.from({ length: 5 }, () => 'é'.repeat(60_000)) };
    const key = k('k1', { meta_data });
    const { stderr } = await imported(jsonl(k('k0'), key, k('k2')));
    expect(stderr).toBe('3 imported, 0 skipped (already exist), 0 rejected.\n');
    const found = (await exported()).find(({ key_id }) => key_id === 'k1');
    expect(found?.['meta_data']).toStrictEqual(meta_data);
  });

  it('shows its progress on a terminal, and each invalid line separately', async () => {
    const file = await c.file('keys.jsonl', jsonl(k('k1'), '{', k('k2')));
    const { stderr } = await c.keyfront(['keys', 'import', file], {}, true);
    expect(stderr.startsWith('\r1 line …')).toBe(true);
    expect(stderr).toContain('\r\u001b[Kline 2: ');
  });
});

describe('keys import --passwords-are-hashed', () => {
  const bcryptHash = hashBcrypt('correct horse', 4);

  it('stores bcrypt and argon2id hashes unchanged, with their type', async () => {
    const argonHash = await argon2('correct horse', { memoryCost: 64, timeCost: 1 });
    const { stderr } = await imported(
      jsonl(
        k('b', { basic_auth_data: { password: bcryptHash, user: 'u' } }),
        k('c', { basic_auth_data: { hash_type: 'bcrypt', password: bcryptHash.replace('$2b$', '$2a$') } }),
        k('d', { basic_auth_data: { hash_type: 'argon2id', password: argonHash } }),
        k('e', { basic_auth_data: { user: 'no password' } }),
        k('f', { basic_auth_data: { hash_type: null, password: null } }),
        k('g', { basic_auth_data: null }),
      ),
      '--passwords-are-hashed',
    );
    expect(stderr).toBe('6 imported, 0 skipped (already exist), 0 rejected.\n');
    const kept = Object.fromEntries(
      (await exported('--with-secrets')).map(({ key_id, basic_auth_data }) => [key_id, basic_auth_data]),
    );
    expect(kept).toStrictEqual({
      b: { hash_type: 'bcrypt', password: bcryptHash, user: 'u' },
      c: { hash_type: 'bcrypt', password: bcryptHash.replace('$2b$', '$2a$') },
      d: { hash_type: 'argon2id', password: argonHash },
      e: { user: 'no password' },
      f: {},
      g: undefined,
    });
  });

  it.each([
    ['a password in clear', { password: 'hunter2-hunter2' }],
    ['a blank one', { password: ' ' }],
    ['a number', { password: 17 }],
    ['half a hash', { password: bcryptHash.slice(0, -1) }],
    ['a hash and more', { password: `${bcryptHash}\n` }],
    ['a fast hash', { password: '5f4dcc3b5aa765d61d8327deb882cf99', hash_type: 'md5' }],
    ['a hash of another type than hash_type', { password: bcryptHash, hash_type: 'argon2id' }],
    ['a placeholder', { password: '<PASSWORD>' }],
  ])('rejects %s with the line number, without quoting it', async (_name, basic_auth_data) => {
    const { code, stderr } = await imported(jsonl(k('k1', { basic_auth_data }), k('k2')), '--passwords-are-hashed');
    expect(code).toBe(1);
    expect(stderr).toBe(
      'line 1: basic_auth_data.password must be a bcrypt or argon2id hash of the `hash_type` given\n' +
        '1 imported, 0 skipped (already exist), 1 rejected.\n',
    );
  });

  it('S-09 is required for hashes: without it a hash is treated as a password', async () => {
    await imported(jsonl(k('k1', { basic_auth_data: { password: bcryptHash } })));
    const [line] = await exported('--with-secrets');
    const { password } = line?.['basic_auth_data'] as { password: string };
    expect(password).not.toBe(bcryptHash);
    expect(await verifyBcrypt(bcryptHash, password)).toBe(true);
  });
});

describe('keys export', () => {
  const everything = {
    ...fullUpdate,
    basic_auth_data: {
      hash_type: 'bcrypt',
      password: hashBcrypt('Xq7-password', 4),
      user: 'u',
    },
    hmac_string: 'Xq7-hmac',
    jwt_data: { secret: 'Xq7-jwt' },
    date_created: '2020-01-01T00:00:00Z',
    last_updated: '1600000000',
  };
  const keys = [
    k('k1', everything),
    k('k2', { quota_max: 9223372036854775807n, quota_remaining: 9007199254740993n, quota_renewal_rate: 60 }),
    k('k-🔑', { alias: 'a\u2028b' }),
    k('k4', {
      access_rights: { 'a.b "c"': { api_id: 'x', limit: { quota_max: 1 } } },
      meta_data: { big: 9007199254740993n, null: null },
    }),
    k('k5', { quota_max: -1, quota_remaining: -1, expires: 0, tags: [], jwt_data: {} }),
  ];

  it('with secrets copies every key unchanged to a new installation', async () => {
    await imported(jsonl(...keys), '--passwords-are-hashed');
    const first = await c.keyfront(['keys', 'export', '--with-secrets']);
    expect(first.stderr).toBe('Exported keys: 5, with secrets; keep the file safe.\n');
    expect(first.out.split('\n').slice(0, -1)).toContainEqual(
      expect.stringContaining('"quota_max":9223372036854775807'),
    );

    const other = await makeOwnCommandLine();
    const file = await other.file('keys.jsonl', first.out);
    const { stderr } = await other.keyfront(['keys', 'import', file, '--passwords-are-hashed']);
    expect(stderr).toMatch(/^5 imported, 0 skipped \(already exist\), 0 rejected\.\nLines with warnings: 1\./);
    const second = await other.keyfront(['keys', 'export', '--with-secrets']);
    expect(second.out).toBe(first.out);
  });

  it('contains every field of a key', async () => {
    await imported(jsonl(k('k1', everything)), '--passwords-are-hashed');
    expect(await exported('--with-secrets')).toStrictEqual([k('k1', everything)]);
  });

  it('contains no secrets without --with-secrets, and reports that', async () => {
    await imported(jsonl(...keys), '--passwords-are-hashed');
    const { out, stderr } = await c.keyfront(['keys', 'export']);
    expect(stderr).toBe('Exported keys: 5, without secrets.\n');
    expect(out).not.toMatch(/Xq7|\$2b\$|"password"|"secret"|"hmac_string"/);
    const [first] = (await exported()).filter(({ key_id }) => key_id === 'k1');
    expect(first).toMatchObject({ basic_auth_data: { hash_type: 'bcrypt', user: 'u' }, jwt_data: {} });
  });

  it('contains the live quota after traffic and resets', async () => {
    await imported(
      jsonl(k('k1', { quota_max: 100, quota_remaining: 30, quota_renewal_rate: 60, quota_renews: 1893456000 })),
    );
    const t = await startOwnApp({ KEYFRONT_DATA: c.folder });
    await t.update('k1', { quota_max: 50, quota_remaining: 50, quota_renewal_rate: 60 });
    expect(await exported()).toMatchObject([{ quota_max: 50, quota_remaining: 0, quota_renews: 1893456000 }]);
    await t.update('k1', { quota_max: 50, quota_renewal_rate: 60 }, '?reset_quota=1');
    expect(await exported()).toMatchObject([
      { quota_max: 50, quota_remaining: 50, quota_renews: t.clock.now.getTime() / 1000 + 60 },
    ]);
  });

  it('leaves a database file that needs no log, and the key ring', async () => {
    await c.create();
    expect((await c.keyfront(['keys', 'export'])).code).toBe(0);
    // SQLite leaves an empty log and its index beside a file that was only read.
    expect((await readdir(c.folder)).filter((name) => !/-(wal|shm)$/.test(name)).sort()).toStrictEqual([
      'key-ring.json',
      'keyfront.db',
    ]);
    expect(await readFile(join(c.folder, 'keyfront.db-wal'))).toHaveLength(0);
  });
});
