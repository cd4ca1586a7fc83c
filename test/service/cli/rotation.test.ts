import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { jsonLines, makeOwnCommandLine, serveFolder, type CommandLine } from '../../support/cli.js';
import { hashOf } from '../../support/factories.js';

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys([
    { key_id: 'acme-billing', org_id: 'acme', alias: 'Billing', quota_max: 10, hmac_string: 'secret' },
  ]);
});

const exported = async (env?: Record<string, string>) => {
  const { code, out } = await c.keyfront(['keys', 'export', '--with-secrets'], env);
  expect(code).toBe(0);
  return jsonLines(out);
};

describe.each(['the data folder', 'a service'])('keys rotate on %s', (place) => {
  let env: Record<string, string> = {};
  const keyfront = async (...args: string[]) => c.keyfront(args, env);
  beforeEach(async () => {
    env = place === 'a service' ? (await serveFolder(c)).env : {};
  });

  it('prints the new identifier alone; either names the key; cancel-rotation keeps the old one', async () => {
    const rotated = await keyfront('keys', 'rotate', 'acme-billing', '--overlap', '7d', '--reason', 'yearly rotation');
    expect(rotated).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^acme_[\da-f]{40}\n$/),
      stderr: expect.stringMatching(/^Rotated \(version 2\)\. The old identifier is accepted until \d{4}-.*Z\.\n$/),
    });
    const keyID = rotated.out.trim();
    for (const by of [
      ['acme-billing'],
      [keyID],
      ['--key-hash', hashOf(keyID)],
      ['--key-hash', hashOf('acme-billing')],
    ]) {
      expect((await keyfront('keys', 'get', ...by)).stderr).toContain(`Version 2 of ${hashOf('acme-billing')}`);
    }
    expect(await keyfront('keys', 'rotate', keyID)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ROTATION_RUNNING'),
    });
    const history = await keyfront('keys', 'history', keyID, '--json');
    expect(jsonLines(history.out)[0]).toMatchObject({
      operation: 'rotate',
      reason: 'yearly rotation',
      changes: [
        { path: 'identifier_hash', before: hashOf('acme-billing'), after: hashOf(keyID) },
        { path: 'old_identifier_hash', after: hashOf('acme-billing') },
        { path: 'retires_at' },
      ],
    });
    expect(await keyfront('keys', 'cancel-rotation', keyID)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Canceled the rotation (version 3).'),
    });
    expect(await keyfront('keys', 'get', keyID)).toMatchObject({ code: 1 });
    expect(await keyfront('keys', 'get', 'acme-billing')).toMatchObject({ code: 0 });
    const [last] = jsonLines((await keyfront('keys', 'history', 'acme-billing', '--json')).out);
    expect(last).toMatchObject({ operation: 'cancel_rotation' });
  });

  it('rejects the old identifier at once with --overlap 0', async () => {
    const { code, out } = await keyfront(
      'keys',
      'rotate',
      'acme-billing',
      '--overlap',
      '0',
      '--prefix',
      'new.',
      '--json',
    );
    const [rotated] = jsonLines(out);
    expect(code).toBe(0);
    expect(rotated).toMatchObject({
      action: 'rotated',
      key: expect.stringMatching(/^new\.[\da-f]{40}$/),
      key_hash: hashOf('acme-billing'),
      version: 2,
      retires_at: null,
    });
    expect(await keyfront('keys', 'get', 'acme-billing')).toMatchObject({ code: 1 });
    expect(await keyfront('keys', 'get', String(rotated?.['key']))).toMatchObject({ code: 0 });
  });
});

it.each([
  [['--overlap', '91d'], 1],
  [['--overlap', 'soon'], 2],
  [['--prefix', 'a b'], 1],
])('keys rotate rejects %j and changes nothing', async (args, code) => {
  expect(await c.keyfront(['keys', 'rotate', 'acme-billing', ...args])).toMatchObject({ code, out: '' });
  expect((await c.keyfront(['keys', 'get', 'acme-billing'])).stderr).toContain('Version 1 of');
});

describe('during a rotation', () => {
  let keyID: string;
  beforeEach(async () => {
    keyID = (await c.keyfront(['keys', 'rotate', 'acme-billing'])).out.trim();
  });

  it('an export and an import carry both identifiers and the time', async () => {
    const lines = await exported();
    expect(lines).toMatchObject([
      { key_id: keyID, retiring_key_id: 'acme-billing', retires_at: expect.any(String), hmac_string: 'secret' },
    ]);
    const other = await makeOwnCommandLine();
    await other.importKeys(lines);
    const again = jsonLines((await other.keyfront(['keys', 'export', '--with-secrets'])).out);
    expect(again).toStrictEqual(lines);
    for (const name of [keyID, 'acme-billing']) {
      expect((await other.keyfront(['keys', 'get', name])).stderr).toContain(`Version 1 of ${hashOf(keyID)}`);
    }
    expect((await other.keyfront(['check'])).code).toBe(0);
    // Existing keys stay, whichever identifier a line has.
    const input = `${JSON.stringify({ key_id: 'acme-billing', org_id: 'acme' })}\n`;
    for (const args of [
      ['keys', 'import', '-', '--dry-run'],
      ['keys', 'import', '-'],
    ]) {
      expect((await other.keyfront(args, {}, false, { input })).stderr).toMatch(
        /1 skipped|1 would be skipped|already exist/,
      );
    }
    const update = `${JSON.stringify({ key_id: 'acme-billing', org_id: 'acme', alias: 'Updated' })}\n`;
    expect((await other.keyfront(['keys', 'import', '-', '--update'], {}, false, { input: update })).code).toBe(0);
    expect((await other.keyfront(['keys', 'get', keyID])).out).toContain('Updated');
  });

  it.each([
    [{ retiring_key_id: 'old' }, 'retires_at'],
    [{ retires_at: '2100-01-01T00:00:00Z' }, 'retiring_key_id'],
    [{ retiring_key_id: 'old', retires_at: 'tomorrow' }, 'retires_at'],
    [{ retiring_key_id: 'new', retires_at: '2100-01-01T00:00:00Z' }, 'retiring_key_id'],
    [{ retiring_key_id: 'a/b', retires_at: '2100-01-01T00:00:00Z' }, 'retiring_key_id'],
  ])('an import rejects %j', async (members, path) => {
    const input = `${JSON.stringify({ key_id: 'new', org_id: 'acme', ...members })}\n`;
    const { code, stderr } = await c.keyfront(['keys', 'import', '-'], {}, false, { input });
    expect([code, stderr.includes(path)]).toEqual([1, true]);
    expect(await c.keyfront(['keys', 'get', 'new'])).toMatchObject({ code: 1 });
  });

  it('an import leaves out an identifier that has retired, and does not take one of another key', async () => {
    const lines = [
      { key_id: 'x', org_id: 'acme', retiring_key_id: 'old', retires_at: '2020-01-01T00:00:00Z' },
      { key_id: 'y', org_id: 'acme', retiring_key_id: keyID, retires_at: '2100-01-01T00:00:00Z' },
      { key_id: 'z', org_id: 'acme', retiring_key_id: 'x', retires_at: '2100-01-01T00:00:00Z' },
    ];
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const { stderr } = await c.keyfront(['keys', 'import', '-'], {}, false, { input });
    expect(stderr).toContain('1 imported, 2 skipped');
    for (const absent of ['old', 'y', 'z'])
      expect(await c.keyfront(['keys', 'get', absent])).toMatchObject({ code: 1 });
    expect((await c.keyfront(['keys', 'get', keyID])).stderr).toContain(hashOf('acme-billing'));
  });

  it('a rotation of the key ring and a backup include the retiring identifier', async () => {
    expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
    expect((await c.keyfront(['secrets', 'prune', '--yes'])).code).toBe(0);
    expect(await exported()).toMatchObject([{ key_id: keyID, retiring_key_id: 'acme-billing' }]);
    expect((await c.keyfront(['check'])).code).toBe(0);
    const backup = `${c.folder}-backup`;
    expect((await c.keyfront(['backup', backup])).code).toBe(0);
    expect((await c.keyfront(['keys', 'cancel-rotation', keyID])).code).toBe(0);
    const restored = { KEYFRONT_DATA: `${c.folder}-restored` };
    await mkdir(restored.KEYFRONT_DATA, { mode: 0o700 });
    await cp(join(c.folder, 'key-ring.json'), join(restored.KEYFRONT_DATA, 'key-ring.json'));
    expect((await c.keyfront(['restore', backup], restored)).code).toBe(0);
    const { out } = await c.keyfront(['keys', 'export'], restored);
    expect(jsonLines(out)).toMatchObject([{ key_id: keyID, retiring_key_id: 'acme-billing' }]);
  });

  it('discards nothing of an intact key, and shows the identifiers to no list', async () => {
    expect((await c.keyfront(['keys', 'discard', hashOf('acme-billing'), '--yes'])).code).not.toBe(0);
    const { out } = await c.keyfront(['keys', 'list']);
    expect(out).not.toContain(keyID);
  });
});
