import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApp, startOwnApp } from '../../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../../support/cli.js';
import { tamper as tamperWith } from '../../support/tamper.js';
import { hashOf, rowIDOf } from '../../support/factories.js';

const [hash1, hash2] = [hashOf('k1'), hashOf('k2')];

let c: CommandLine;
let folder: string;
beforeEach(async () => {
  c = await makeOwnCommandLine();
  folder = c.folder;
  const t = await startApp({ KEYFRONT_DATA: folder });
  await t.importKeys(
    { key_id: 'k1', org_id: 'acme', alias: 'one', hmac_string: 'hmac', jwt_data: { secret: 'jwt' } },
    { key_id: 'k2', org_id: 'acme', quota_max: 10, tags: ['gold'] },
  );
  const { id } = await t.issue('service', { orgID: 'acme', expires: new Date('2026-03-01') });
  await t.app.services.credentials.revoke(id, t.clock.now);
  await t.update('k1', { alias: 'two', meta_data: { '2': 'b', '1': 'a', big: 9007199254740993n } });
  await t.update('k1', { alias: 'three', rate: 1e21 }, '?reset_quota=1');
  await t.graphql('mutation { consumeOrgQuota(keyID: "k2", amount: 3) { allowed } }');
  await t.graphql('mutation { deleteOrgKey(keyID: "k2", reason: "größer 🔑") { version } }');
  await t.close();
});

const check = () => c.keyfront(['check']);

/** Without the empty log and its index that SQLite leaves beside a file that was only read. */
const files = async () =>
  Promise.all(
    (await readdir(folder))
      .filter((name) => !/-(wal|shm)$/.test(name))
      .toSorted()
      .map(async (name) => [name, hashOf((await readFile(join(folder, name))).toString('latin1'))]),
  );

const tamper = (...statements: string[]) => tamperWith(join(folder, 'keyfront.db'), ...statements);

const broken = (keyHash: string) => `The history of ${keyHash} fails the integrity check.\n`;
const altered = (keyHash: string) => `The key ${keyHash} fails the integrity check.\n`;
const oneProblem = '2 keys verified, problems found: 1.\n';

describe('keyfront check', () => {
  it('reports no problems for an intact installation and changes nothing', async () => {
    const before = await files();
    expect(await check()).toStrictEqual({ code: 0, stderr: '2 keys verified, no problems found.\n', out: '' });
    expect(await files()).toStrictEqual(before);
  });

  it('reports no problems after a rotation of the key ring', async () => {
    expect((await c.keyfront(['secrets', 'rotate'])).code).toBe(0);
    expect(await check()).toMatchObject({ code: 0 });
  });

  it.each([
    ['who did it', 'UPDATE history SET actor = (SELECT max(id) FROM actors) WHERE version = 2'],
    ['why', "UPDATE history SET reason = 'another' WHERE version = 2"],
    ['when', 'UPDATE history SET at = at + 1 WHERE version = 2'],
    ['what was done', "UPDATE history SET operation = 'revert' WHERE version = 2"],
    ['what changed', "UPDATE history SET changes = '[]' WHERE version = 2"],
    ['what the definition was', "UPDATE history SET before = '{}' WHERE version = 2"],
    ['the first entry', "UPDATE history SET request_id = 'x' WHERE version = 1"],
    ['the newest entry', "UPDATE history SET request_id = 'x' WHERE version = 3"],
    ['the version it led to', 'UPDATE history SET version = 4 WHERE version = 3'],
    ['a link', "UPDATE history SET link = x'00' WHERE version = 2"],
    ['the key it is about', `UPDATE history SET key_hash = x'${hashOf('k3')}' WHERE version = 3`],
    ['the row of its key', `UPDATE history SET key = ${rowIDOf(hashOf('k3'))} WHERE version = 3`],
    ['the entry before it', 'UPDATE history SET previous = NULL WHERE version = 3'],
    ['the first entry being there', 'DELETE FROM history WHERE version = 1'],
    ['an entry in the middle being there', 'DELETE FROM history WHERE version = 2'],
    ['the newest entry being there', 'DELETE FROM history WHERE version = 3'],
    ['any entry being there', 'DELETE FROM history WHERE version > 0'],
    ['a signature', "UPDATE history SET mac = x'00' WHERE version = 2"],
    ['a signature being there', "UPDATE history SET mac = x'' WHERE version = 2"],
    [
      'an entry and its signature, for those of another version',
      `UPDATE history SET (before, link, mac) = (SELECT before, link, mac FROM history WHERE key = ${rowIDOf(hash1)} AND version = 3)
       WHERE version = 2`,
    ],
  ])('names a key whose history has a changed %s', async (_, statement) => {
    const where = statement.includes('WHERE') ? 'AND' : 'WHERE';
    tamper("INSERT INTO actors (credential_id, label) VALUES ('other', 'another label')");
    tamper(`${statement} ${where} key = ${rowIDOf(hash1)}`);
    const before = await files();
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toContain(broken(hash1));
    expect(stderr).not.toContain(broken(hash2));
    expect(await files()).toStrictEqual(before);
  });

  it('O-04 names a key whose entries were exchanged for those of another version', async () => {
    tamper(
      `UPDATE history SET before = (SELECT before FROM history WHERE key = ${rowIDOf(hash1)} AND version = 2)
       WHERE key = ${rowIDOf(hash1)} AND version = 3`,
    );
    expect((await check()).stderr).toBe(broken(hash1) + oneProblem);
  });

  it('names a history whose key was removed', async () => {
    tamper(`DELETE FROM keys WHERE id = ${rowIDOf(hash2)}`);
    expect(await check()).toMatchObject({ code: 1, stderr: `${broken(hash2)}1 key verified, problems found: 1.\n` });
  });

  it.each([
    ['its hash', `key_hash = x'${hashOf('k3')}'`],
    ['its identity', 'identity = zeroblob(16)'],
    ['its sealed identifier', "sealed_key_id = x'00'"],
    ['its organization', 'org = (SELECT max(id) FROM orgs)'],
    ['its organization being there', 'org = 99'],
    ['its version', 'version = version - 1'],
    ['its date', "date_created = '2026-01-31T12:00:00.001Z'"],
    ['its last update', 'last_updated = last_updated + 1'],
    ['its deletion', 'deleted = 1'],
    ['its definition', `definition = '{"alias":"forged"}'`],
    ['its alias for lists', "alias = 'x'"],
    ['its expiry for lists', 'expires = 7'],
    ['its being switched off for lists', 'is_inactive = 1'],
    ['its password', "password_hash = '$2b$10$x'"],
    ['its secret being there', 'jwt_secret = NULL'],
    ['its other secret', 'hmac_string = sealed_key_id'],
    ['its live count', 'quota_used = quota_used + 1'],
    ['the end of its period', 'quota_renews = 1'],
    ['its link to the history', "history_link = x'00'"],
    ['its signature', "mac = x'00'"],
    ['its signature being there', "mac = x''"],
    ['its signature for another’s', `mac = (SELECT mac FROM keys WHERE id = ${rowIDOf(hash2)})`],
  ])('names a key after a change of %s', async (what, change) => {
    tamper("INSERT INTO orgs (name) VALUES ('globex')", `UPDATE keys SET ${change} WHERE id = ${rowIDOf(hash1)}`);
    const before = await files();
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toContain(altered(what === 'its hash' ? hashOf('k3') : hash1));
    expect(stderr).not.toContain(hash2);
    expect(await files()).toStrictEqual(before);
  });

  it.each([
    ["kind = 'management'"],
    ["label = 'another'"],
    ['expires = NULL'],
    ['revoked = NULL'],
    ["org_id = 'globex'"],
    ['created = created + 1'],
    ["mac = x'00'"],
  ])('names a credential after a change of %s', async (change) => {
    tamper(`UPDATE credentials SET ${change} WHERE id = (SELECT max(id) FROM credentials WHERE revoked IS NOT NULL)`);
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^The credential cred_[0-9a-f]{16} fails the integrity check\.\n2 keys verified, problems found: 1\.\n$/,
    );
  });

  it('names a key that is missing in the index of tags', async () => {
    tamper(
      `DELETE FROM key_terms WHERE term = (SELECT id FROM terms WHERE name = 't:gold') AND key = ${rowIDOf(hash2)}`,
    );
    expect((await check()).stderr).toBe(
      `The index of tags, policies, APIs and identifiers does not match the key ${hash2}.\n${oneProblem}`,
    );
  });

  it('names every problem', async () => {
    tamper(
      `UPDATE history SET reason = 'x' WHERE version = 1`,
      `UPDATE keys SET hmac_string = x'00' WHERE id = ${rowIDOf(hash1)}`,
    );
    const { stderr } = await check();
    expect(stderr).toContain(altered(hash1));
    expect(stderr).toContain(broken(hash2));
    expect(stderr).toContain('2 keys verified, problems found: 2.\n');
  });

  it('reports no problems while a service writes', async () => {
    const t = await startOwnApp({ KEYFRONT_DATA: folder });
    await t.importKeys(...Array.from({ length: 100 }, (_, index) => ({ key_id: `key ${index}`, org_id: 'acme' })));
    let isOver = false;
    let changes = 0;
    const service = (async () => {
      while (!isOver) {
        expect(
          (await t.update(`key ${changes % 100}`, { alias: `${changes}`, tags: [`t${changes % 7}`] })).status,
        ).toBe(200);
        changes += 1;
      }
    })();
    for (let round = 0; round < 3; round += 1) {
      expect(await check()).toStrictEqual({ code: 0, stderr: '102 keys verified, no problems found.\n', out: '' });
    }
    isOver = true;
    await service;
    expect(changes).toBeGreaterThan(3);
  });
});
