import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { startApp } from '../support/app.js';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
const [hash1, hash2] = [sha256('k1'), sha256('k2')];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyfront-check-'));
  const t = await startApp({ KEYFRONT_DATA: folder });
  await t.importKeys(
    { key_id: 'k1', org_id: 'acme', alias: 'one', hmac_string: 'hmac', jwt_data: { secret: 'jwt' } },
    { key_id: 'k2', org_id: 'acme', quota_max: 10 },
  );
  await t.update('k1', { alias: 'two', meta_data: { '2': 'b', '1': 'a', big: 9007199254740993n } });
  await t.update('k1', { alias: 'three', rate: 1e21 }, '?reset_quota=1');
  await t.graphql('mutation { consumeOrgQuota(keyID: "k2", amount: 3) { allowed } }');
  await t.graphql('mutation { deleteOrgKey(keyID: "k2", reason: "größer 🔑") { status } }');
  await t.close();
});
afterEach(async () => rm(folder, { recursive: true }));

async function check(): Promise<{ code: number; said: string; out: string }> {
  const texts = { said: '', out: '' };
  const code = await run(['check'], {
    env: { KEYFRONT_DATA: folder },
    out: (text) => void (texts.out += text),
    say: (text) => void (texts.said += text),
    isWatched: false,
    onStop: () => undefined,
  });
  return { code, ...texts };
}

const files = async () =>
  Promise.all(
    (await readdir(folder))
      .toSorted()
      .map(async (name) => [name, sha256((await readFile(join(folder, name))).toString('latin1'))]),
  );

/** Changes the database behind the service’s back. */
function tamper(...statements: string[]): void {
  const database = new Database(join(folder, 'keyfront.db'));
  database.exec('DROP TRIGGER audit_is_append_only');
  for (const statement of statements) expect(database.prepare(statement).run().changes).toBeGreaterThan(0);
  database.close();
}

const broken = (keyHash: string) => `The history of ${keyHash} is not what was written.\n`;
const oneProblem = '1 problems in 2 keys.\n';

describe('keyfront check', () => {
  it('finds nothing wrong with what the service wrote, and changes nothing', async () => {
    const before = await files();
    expect(await check()).toStrictEqual({ code: 0, said: '2 keys, all as they were written.\n', out: '' });
    expect(await files()).toStrictEqual(before);
  });

  it('finds nothing wrong with a new folder', async () => {
    await rm(folder, { recursive: true });
    expect(await check()).toMatchObject({ code: 0, said: '0 keys, all as they were written.\n' });
  });

  it('finds nothing wrong after secrets were sealed anew', async () => {
    const io = {
      env: { KEYFRONT_DATA: folder },
      out: () => undefined,
      say: () => undefined,
      isWatched: false,
      onStop: () => undefined,
    };
    expect(await run(['secrets', 'rotate'], io)).toBe(0);
    expect(await check()).toMatchObject({ code: 0 });
  });

  it.each([
    ['who did it', "UPDATE audit SET credential_label = 'somebody else' WHERE version_after = 2"],
    ['why', "UPDATE audit SET reason = 'another' WHERE version_after = 2"],
    ['when', 'UPDATE audit SET at = at + 1 WHERE version_after = 2'],
    ['what was done', "UPDATE audit SET operation = 'revert' WHERE version_after = 2"],
    ['what changed', "UPDATE audit SET changes = '[]' WHERE version_after = 2"],
    ['what the definition was', "UPDATE audit SET definition = '{}' WHERE version_after = 2"],
    ['the first entry', "UPDATE audit SET request_id = 'x' WHERE version_after = 1"],
    ['the newest entry', "UPDATE audit SET request_id = 'x' WHERE version_after = 3"],
    ['the version it led to', 'UPDATE audit SET version_after = 4 WHERE version_after = 3'],
    ['a link', "UPDATE audit SET link = x'00' WHERE version_after = 2"],
    ['the newest link of the key', "UPDATE keys SET history_link = x'00'"],
    ['the key it is about', `UPDATE audit SET key_hash = '${sha256('k3')}' WHERE version_after = 3`],
    ['the first entry being there', 'DELETE FROM audit WHERE version_after = 1'],
    ['an entry in the middle being there', 'DELETE FROM audit WHERE version_after = 2'],
    ['the newest entry being there', 'DELETE FROM audit WHERE version_after = 3'],
    ['any entry being there', 'DELETE FROM audit WHERE version_after > 0'],
    ['the version of the key', 'UPDATE keys SET version = version + 1'],
    ['the definition of the key', `UPDATE keys SET definition = '{"alias":"forged"}'`],
  ])('names a key in whose history somebody changed %s', async (_, statement) => {
    const where = statement.includes('WHERE') ? 'AND' : 'WHERE';
    tamper(`${statement} ${where} key_hash = '${hash1}'`);
    const before = await files();
    const { code, said } = await check();
    expect(code).toBe(1);
    expect(said).toContain(broken(hash1));
    expect(said).not.toContain(broken(hash2));
    expect(await files()).toStrictEqual(before);
  });

  it('names a key whose entries were exchanged for those of another version', async () => {
    tamper(
      `UPDATE audit SET definition = (SELECT definition FROM audit WHERE key_hash = '${hash1}' AND version_after = 1)
       WHERE key_hash = '${hash1}' AND version_after = 3`,
    );
    expect((await check()).said).toBe(broken(hash1) + oneProblem);
  });

  it('names a key that was added without a history, and one that was taken away from its own', async () => {
    tamper(`UPDATE keys SET key_hash = '${sha256('k3')}' WHERE key_hash = '${hash2}'`);
    const { code, said } = await check();
    expect(code).toBe(1);
    expect(said).toContain(broken(sha256('k3')));
    expect(said).toContain(broken(hash2));
    expect(said).not.toContain(broken(hash1));
  });

  it.each([
    ['sealed_key_id', 'keyID'],
    ['jwt_secret', 'jwtSecret'],
    ['hmac_string', 'hmacString'],
  ])('names a sealed value in %s of which a byte is another', async (column, name) => {
    const database = new Database(join(folder, 'keyfront.db'));
    const { sealed } = database.prepare(`SELECT ${column} AS sealed FROM keys WHERE key_hash = ?`).get(hash1) as {
      sealed: Buffer;
    };
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    database.prepare(`UPDATE keys SET ${column} = ? WHERE key_hash = ?`).run(sealed, hash1);
    database.close();
    const before = await files();
    expect(await check()).toStrictEqual({
      code: 1,
      said: `The ${name} of ${hash1} does not open.\n${oneProblem}`,
      out: '',
    });
    expect(await files()).toStrictEqual(before);
  });

  it('names a sealed value that was put in another’s place', async () => {
    tamper(
      `UPDATE keys SET sealed_key_id = (SELECT sealed_key_id FROM keys WHERE key_hash = '${hash1}') WHERE key_hash = '${hash2}'`,
    );
    expect((await check()).said).toBe(`The keyID of ${hash2} does not open.\n${oneProblem}`);
  });

  it('names every problem there is', async () => {
    tamper(
      `UPDATE audit SET reason = 'x' WHERE version_after = 1`,
      `UPDATE keys SET hmac_string = x'00' WHERE key_hash = '${hash1}'`,
    );
    const { said } = await check();
    expect(said).toContain(broken(hash1));
    expect(said).toContain(broken(hash2));
    expect(said).toContain(`The hmacString of ${hash1} does not open.\n`);
    expect(said).toContain('3 problems in 2 keys.\n');
  });

  it('takes no words and no options', async () => {
    const io = {
      env: { KEYFRONT_DATA: folder },
      out: () => undefined,
      say: () => undefined,
      isWatched: false,
      onStop: () => undefined,
    };
    expect(await run(['check', 'this'], io)).toBe(2);
    expect(await run(['check', '--fix'], io)).toBe(2);
  });
});

describe('the history', () => {
  it('is guarded by the database itself against a change of an entry', () => {
    const database = new Database(join(folder, 'keyfront.db'));
    expect(() => database.exec("UPDATE audit SET reason = 'x'")).toThrow('history is append-only');
    database.close();
  });
});
