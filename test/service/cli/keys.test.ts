import { existsSync } from 'node:fs';
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
  it('imports keys and counts them', async () => {
    const outcome = await imported(jsonl(k('k1', { alias: 'one' }), '', '   ', k('k2')));
    expect(outcome).toStrictEqual({
      code: 0,
      out: '',
      stderr: '2 imported, 0 skipped (already exist), 0 rejected.\n',
    });
    expect((await exported()).map(({ key_id }) => key_id).sort()).toStrictEqual(['k1', 'k2']);
  });

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

  it('reports invalid lines by number, without key identifiers or secrets, and imports the rest', async () => {
    const { code, stderr } = await imported(
      jsonl(
        k('Xq7-good-1', { hmac_string: 'Xq7-secret' }),
        '{"key_id": "Xq7-cut", "hmac_string": "Xq7-sec',
        k('Xq7-type', { rate: 'Xq7-secret', jwt_data: { secret: ['Xq7-secret'] } }),
        { key_id: 'Xq7-no-owner' },
        { org_id: 'acme', alias: 'Xq7-no-key' },
        { key_id: 17, org_id: 'acme' },
        k('Xq7/slash'),
        k(''),
        '"Xq7"',
        '[]',
        'null',
        k('Xq7-unknown', { quota_maxx: 1 }),
        k('Xq7-variant', { mtls_static_certificate_bindings: ['x'] }),
        k('Xq7-mask', { hmac_string: '<PASSWORD>' }),
        k('Xq7-time', { last_updated: '9999999999999999999' }),
        k('Xq7-period', { quota_renewal_rate: 9223372036854775807n }),
        '{"key_id":"Xq7-big","org_id":"acme","quota_max":9223372036854775808}',
        '{"key_id":"Xq7-twice","org_id":"acme","alias":"a","alias":"b"}',
        k('Xq7-good-2'),
      ),
    );
    expect(code).toBe(1);
    expect(stderr).not.toContain('Xq7-');
    expect(stderr.split('\n')).toStrictEqual([
      'line 2: The line is not valid JSON (column 46)',
      'line 3: jwt_data.secret must be a string; rate must be a number',
      'line 4: org_id is required; every key has an owner',
      'line 5: key_id is required and must be a string',
      'line 6: key_id is required and must be a string',
      'line 7: key_id must not hold a slash or a backslash',
      'line 8: key_id must not be empty',
      'line 9: The line is not a JSON object.',
      'line 10: The line is not a JSON object.',
      'line 11: The line is not a JSON object.',
      'line 12: quota_maxx is an unknown field; did you mean `quota_max`?',
      'line 13: mtls_static_certificate_bindings belongs to the preview only',
      'line 14: hmac_string is a placeholder; send the secret itself, null to clear it, or leave it out to keep it',
      'line 15: last_updated must be Unix seconds, written in digits',
      'line 16: quota_renewal_rate must be smaller: the quota period would end after the largest 64-bit timestamp',
      'line 17: quota_max must be at most 9223372036854775807',
      'line 18: alias occurs more than once in its object',
      '2 imported, 0 skipped (already exist), 17 rejected.',
      '',
    ]);
    expect((await exported()).map(({ key_id }) => key_id).sort()).toStrictEqual(['Xq7-good-1', 'Xq7-good-2']);
  });

  it('skips existing keys and counts them, also within one file', async () => {
    await imported(jsonl(k('k1', { alias: 'first' })));
    const { code, stderr } = await imported(
      jsonl(k('k1', { alias: 'second' }), k('k2', { alias: 'a' }), k('k2', { alias: 'b' })),
    );
    expect([code, stderr]).toStrictEqual([
      0,
      'line 3: skipped, because line 2 has the same key_id\n1 imported, 2 skipped (already exist), 0 rejected.\n',
    ]);
    expect(new Set((await exported()).map(({ key_id, alias }) => `${String(key_id)} ${String(alias)}`))).toStrictEqual(
      new Set(['k1 first', 'k2 a']),
    );
  });

  it('reports with --dry-run what it would import, and stores nothing', async () => {
    await imported(jsonl(k('k1')));
    const lines = jsonl(k('k1'), k('k2'), k('k2'), { key_id: 'k3' }, k('k4', { rate: 'x' }));
    const dry = await imported(lines, '--dry-run');
    expect(dry.code).toBe(1);
    expect(dry.stderr.split('\n').at(-2)).toBe(
      'Dry run, nothing was stored: 1 would be imported, 2 skipped (already exist), 2 rejected.',
    );
    expect((await exported()).map(({ key_id }) => key_id)).toStrictEqual(['k1']);
    const done = await imported(lines);
    expect(done.stderr).toBe(dry.stderr.replace('Dry run, nothing was stored: 1 would be imported', '1 imported'));
  });

  it('counts lines with warnings, and lists the warnings with --dry-run', async () => {
    await imported(jsonl(k('k0')));
    const lines = jsonl(k('k1', { expires: 1 }), k('k2', { date_created: '2026-01-01T00:00:00Z' }));
    expect((await imported(lines, '--dry-run')).stderr).toMatch(
      /^line 1: warning: expires has passed already\nDry run/,
    );
    expect((await imported(lines)).stderr).toBe(
      '2 imported, 0 skipped (already exist), 0 rejected.\nLines with warnings: 1. `keys preview --import` shows them.\n',
    );
    expect((await exported()).find(({ key_id: id }) => id === 'k2')).toMatchObject({
      date_created: '2026-01-01T00:00:00Z',
    });
  });

  it('explains that a folder cannot be imported', async () => {
    const { code, stderr } = await c.keyfront(['keys', 'import', '/']);
    expect([code, stderr]).toStrictEqual([2, 'Cannot read the file /: it is a folder; name a file.\n']);
  });

  it('prints the numbers of keys with --json', async () => {
    const { out } = await imported(jsonl(k('k1'), k('k1'), k('')), '--json');
    expect(JSON.parse(out)).toStrictEqual({
      dry_run: false,
      imported: 1,
      updated: 0,
      existing: 1,
      invalid: 1,
      warned: 0,
    });
  });

  it('replaces the definitions of existing keys with --update, and keeps the secrets that a line omits', async () => {
    await imported(jsonl(k('k1', { alias: 'one', hmac_string: 'kept' }), k('k2', { alias: 'same' }), k('k3')));
    const lines = jsonl(
      k('k1', { alias: 'new', rate: 5, per: 1 }),
      k('k2', { alias: 'same' }),
      { ...k('k3'), org_id: 'globex' },
      k('k4'),
      k('k1', { alias: 'ignored' }),
    );
    const report = [
      'line 5: skipped, because line 1 has the same key_id',
      'line 3: org_id must be that of the stored key, or left out',
    ];
    const dry = await imported(lines, '--update', '--dry-run');
    expect(dry.stderr.split('\n')).toStrictEqual([
      ...report,
      'Dry run, nothing was stored: 1 would be imported, 1 would be updated, 2 unchanged, 1 rejected.',
      '',
    ]);
    expect(await exported()).toHaveLength(3);
    const done = await imported(lines, '--update', '--actor', 'ana');
    expect(done.code).toBe(1);
    expect(done.stderr.split('\n')).toStrictEqual([...report, '1 imported, 1 updated, 2 unchanged, 1 rejected.', '']);
    const [first] = (await exported('--with-secrets')).filter(({ key_id }) => key_id === 'k1');
    expect(first).toMatchObject({ alias: 'new', rate: 5, hmac_string: 'kept' });
    const { out } = await c.keyfront(['history', 'k1', '--json']);
    expect(JSON.parse(out.split('\n', 1)[0] ?? '')).toMatchObject({
      version: 2,
      operation: 'update',
      credential_label: 'ana (keyfront keys import)',
    });
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

  it('rejects with --update a key that is deleted', async () => {
    await imported(jsonl(k('k1')));
    await c.keyfront(['delete', 'k1']);
    const { code, stderr } = await imported(jsonl(k('k1')), '--update');
    expect([code, stderr]).toStrictEqual([
      1,
      'line 1: The key is deleted; `keyfront keys restore` restores it.\n0 imported, 0 updated, 0 unchanged, 1 rejected.\n',
    ]);
  });

  it('creates no data folder with --dry-run', async () => {
    const { code, stderr } = await imported(jsonl(k('k1')), '--dry-run');
    expect(code).toBe(1);
    expect(stderr).toContain('There is no installation in ');
  });

  it.each([
    ['writes few keys per transaction if storage is slow, so that other writers do not wait', 10, [20, 20, 10]],
    ['writes as many keys per transaction as storage writes in 200 ms', 2, [20, 100, 100, 50]],
    ['writes at most 500 keys per transaction if storage is fast', 0.1, [20, 500, 500, 30]],
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
    expect(counts).toStrictEqual({ imported: lines, updated: 0, existing: 0, invalid: 0, warned: 0 });
    expect(sizes).toStrictEqual(expected);
  });

  it('assigns only keys without an owner to --org', async () => {
    await imported(
      jsonl({ key_id: 'k1' }, { key_id: 'k2', org_id: null }, k('k3'), { key_id: 'k4', org_id: '' }),
      '--org',
      'globex',
    );
    const owners = Object.fromEntries((await exported()).map(({ key_id, org_id }) => [key_id, org_id]));
    expect(owners).toStrictEqual({ k1: 'globex', k2: 'globex', k3: 'acme', k4: 'globex' });
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

  it('names a file that does not exist, and creates no installation', async () => {
    const outcome = await c.keyfront(['keys', 'import', '/nowhere/keys.jsonl']);
    expect(outcome).toStrictEqual({
      code: 2,
      out: '',
      stderr: 'Cannot read the file /nowhere/keys.jsonl: it does not exist; check the path (ENOENT).\n',
    });
    expect(existsSync(c.folder)).toBe(false);
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

  it('omits deleted keys, because an import would restore them', async () => {
    await imported(jsonl(k('living'), k('gone')));
    await c.keyfront(['delete', 'gone']);
    expect((await exported()).map(({ key_id }) => key_id)).toStrictEqual(['living']);
  });

  it('prints nothing if there are no keys', async () => {
    await c.create();
    expect(await c.keyfront(['keys', 'export'])).toStrictEqual({
      code: 0,
      out: '',
      stderr: 'Exported keys: 0, without secrets.\n',
    });
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
