import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApp } from '../../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { tamper } from '../../support/tamper.js';
import { hashOf, rowIDOf } from '../../support/factories.js';

const damaged = hashOf('k2');

let c: CommandLine;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  await c.importKeys([1, 2, 3].map((index) => ({ key_id: `k${index}`, org_id: 'acme', hmac_string: `s${index}` })));
  tamper(join(c.folder, 'keyfront.db'), `UPDATE keys SET alias = 'forged' WHERE id = ${rowIDOf(damaged)}`);
});

const ringIDs = async () =>
  (JSON.parse(await readFile(join(c.folder, 'key-ring.json'), 'utf8')) as { keys: { id: string }[] }).keys.map(
    ({ id }) => id,
  );
const discard = (...args: string[]) => c.keyfront(['keys', 'discard', ...args]);
const skipped = `Skipped the key ${damaged}: its row fails the integrity check.\n`;

describe('a damaged key', () => {
  it('is skipped by an export, which names it and exits with 3', async () => {
    const { code, out, stderr } = await c.keyfront(['keys', 'export', '--with-secrets']);
    expect(code).toBe(3);
    expect(out.match(/"key_id":"k\d"/g)?.toSorted()).toStrictEqual(['"key_id":"k1"', '"key_id":"k3"']);
    expect(stderr).toContain(skipped);
    expect(stderr).toContain('Exported keys: 2,');
    expect(stderr).toContain('`keyfront keys discard HASH --yes`');
  });

  it('does not stop a rotation from encrypting everything else, which exits with 3', async () => {
    const { code, stderr } = await c.keyfront(['secrets', 'rotate']);
    expect([code, stderr]).toStrictEqual([3, expect.stringContaining(skipped)]);
    expect(stderr).toContain('Everything else is encrypted with the key k2.');
    const prune = await c.keyfront(['secrets', 'prune']);
    expect([prune.code, prune.stderr]).toStrictEqual([3, expect.stringContaining(skipped)]);
    expect(prune.stderr).toContain('Removed older keys: 1. The primary key is k2.');
    expect(await ringIDs()).toStrictEqual(['k2']);
    expect((await c.keyfront(['keys', 'export', '--with-secrets'])).out).toContain('"hmac_string":"s3"');
  });

  it('does not make each retry of a rotation add a key to the key ring', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(3);
      expect(await ringIDs()).toStrictEqual(['k1', 'k2']);
    }
    expect((await discard(damaged, '--yes')).code).toBe(0);
    expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
    expect(await ringIDs()).toStrictEqual(['k1', 'k2']);
    // That one is complete, so that the next one begins anew.
    expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
    expect(await ringIDs()).toStrictEqual(['k1', 'k2', 'k3']);
    expect((await c.keyfront(['secrets', 'prune'])).code).toBe(0);
  });

  it('is reported by check until it is discarded', async () => {
    expect(await c.keyfront(['check'])).toMatchObject({ code: 1, stderr: expect.stringContaining(damaged) });
    expect((await discard(damaged, '--yes')).code).toBe(0);
    expect(await c.keyfront(['check'])).toMatchObject({ code: 0, stderr: expect.stringMatching(/^2 keys/) });
  });
});

describe('keys discard', () => {
  it('removes nothing without --yes', async () => {
    const { code, stderr } = await discard(damaged);
    expect([code, stderr]).toStrictEqual([2, expect.stringContaining('Pass --yes to confirm')]);
    expect((await c.keyfront(['check'])).code).toBe(1);
  });

  it('accepts an unambiguous beginning of the hash, and asks about the whole hash', async () => {
    // Their hashes begin with the same digit.
    await c.importKeys([{ key_id: 'other-0', org_id: 'acme' }]);
    const ambiguous = await discard(damaged.slice(0, 1), '--yes');
    expect(ambiguous).toMatchObject({ code: 1, stderr: 'Several hashes begin with 0. Write more of it.\n' });
    const isOn = { isInteractive: true, input: 'n\n' };
    const declined = await c.keyfront(['keys', 'discard', damaged.slice(0, 12)], {}, false, isOn);
    expect(declined.code).toBe(1);
    expect(declined.stderr).toContain(`Delete the damaged key ${damaged} and its history permanently?`);
    expect((await discard(damaged.slice(0, 12), '--yes')).stderr).toContain(`Deleted the damaged key ${damaged}`);
    expect(await c.keyfront(['check'])).toMatchObject({ code: 0 });
  });

  it('writes the attempt to the audit log', async () => {
    const { stderr } = await discard(damaged, '--yes');
    const [line = '{}', words] = stderr.split('\n');
    expect(JSON.parse(line)).toMatchObject({
      event: 'change',
      operation: 'discardOrgKey',
      verdict: 'accepted',
      actor: { id: 'cli', label: 'keyfront keys discard' },
      keyHash: damaged,
    });
    expect(words).toBe(`Deleted the damaged key ${damaged} and its history.`);
  });

  it.each([
    ['an intact key', hashOf('k1'), 'CONFLICT', 'passes the integrity check'],
    ['a key that does not exist', hashOf('k9'), 'NOT_FOUND', 'There is no key'],
  ])('rejects %s and logs the attempt', async (_, hash, code, words) => {
    const outcome = await discard(hash, '--yes');
    expect([outcome.code, outcome.stderr]).toStrictEqual([1, expect.stringContaining(words)]);
    expect(JSON.parse(outcome.stderr.split('\n', 1)[0] ?? '')).toMatchObject({ verdict: 'rejected', code });
    expect((await c.keyfront(['keys', 'export'])).out.match(/"key_id"/g)).toHaveLength(2);
  });

  it.each(['', "k'1", 'k 1', 'é'])('rejects %j, which is not a hash, with exit code 2', async (hash) => {
    expect((await discard(hash, '--yes')).code).toBe(2);
  });

  it('makes the identifier usable again, also while a service runs', async () => {
    const t = await startApp({ KEYFRONT_DATA: c.folder });
    const create = () =>
      t.send('/svc/org/keys/k2', {
        method: 'POST',
        headers: { 'x-svc-authorization': t.service, 'content-type': 'application/json' },
        body: '{"org_id":"acme","alias":"new"}',
      });
    expect((await create()).status).toBe(500);
    expect((await discard(damaged, '--yes')).code).toBe(0);
    expect((await create()).status).toBe(200);
    await t.close();
    expect((await c.keyfront(['check'])).code).toBe(0);
  });
});
