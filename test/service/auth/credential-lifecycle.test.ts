import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rotateCredential } from '../../../src/credentials/issue.js';
import { tokenPattern } from '../../../src/credentials/token.js';
import type { StoredCredential } from '../../../src/credentials/credential.js';
import { openDatabase } from '../../../src/storage/sqlite/connection.js';
import { startApp, type TestApp } from '../../support/app.js';
import { documents } from '../../support/documents.js';
import { temporaryFolder } from '../../support/folder.js';

let t: TestApp;
let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  t = await startApp({ KEYFRONT_DATA: folder });
});
afterEach(async () => {
  await t.close();
  vi.useRealTimers();
});

const store = () => t.app.services.credentials;
const found = async (id: string): Promise<StoredCredential> => {
  const credential = (await store().list()).find((one) => one.id === id);
  if (!credential) throw new Error('The credential of the test is not there.');
  return credential;
};
const opens = async (secret: string) => (await t.preview({}, { authorization: `Bearer ${secret}` })).status === 200;
const later = (milliseconds: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + milliseconds);
};
const hour = 3_600_000;

describe('rotating a credential', () => {
  it('issues a successor of the same kind, label and organization, with a secret of its own', async () => {
    const { id, secret } = await t.issue('service', { orgID: 'acme' });
    const { credential, secret: next } = await rotateCredential(store(), id, 24 * hour, t.clock.now);
    expect(credential).toMatchObject({ kind: 'service', label: 'test service', orgID: 'acme', created: t.clock.now });
    expect(credential.expires).toBeUndefined();
    expect(next).toMatch(tokenPattern);
    expect(next).not.toBe(secret);
    expect(credential.lastFour).toBe(next.slice(-4));
    expect((await found(id)).successorID).toBe(credential.id);
  });

  it('accepts both secrets during the overlap, and then only the secret of the successor', async () => {
    const { id, secret } = await t.issue('management');
    const { secret: next } = await rotateCredential(store(), id, 24 * hour, t.clock.now);
    expect([await opens(secret), await opens(next)]).toStrictEqual([true, true]);
    later(24 * hour - 1);
    expect([await opens(secret), await opens(next)]).toStrictEqual([true, true]);
    later(1);
    expect([await opens(secret), await opens(next)]).toStrictEqual([false, true]);
  });

  it('rejects the old secret at once with an overlap of 0', async () => {
    const { id, secret } = await t.issue('management');
    const { secret: next } = await rotateCredential(store(), id, 0, t.clock.now);
    expect([await opens(secret), await opens(next)]).toStrictEqual([false, true]);
    expect((await found(id)).revoked).toStrictEqual(t.clock.now);
  });

  it('never extends the lifetime of the old credential, and gives the successor the lifetime of the old one', async () => {
    const { id } = await t.issue('management', { expires: new Date(t.clock.now.getTime() + 10 * hour) });
    later(9 * hour);
    const { credential, retired } = await rotateCredential(store(), id, 24 * hour, t.clock.now);
    expect(retired.expires).toStrictEqual(new Date(t.clock.now.getTime() + hour));
    expect(credential.expires).toStrictEqual(new Date(t.clock.now.getTime() + 10 * hour));
  });

  it('rejects a credential that has a successor, is expired or revoked, or does not exist, and issues nothing', async () => {
    const rotated = await t.issue('management');
    const { credential } = await rotateCredential(store(), rotated.id, hour, t.clock.now);
    const revoked = await t.issue('management');
    await store().revoke(revoked.id, t.clock.now);
    const expired = await t.issue('management', { expires: t.clock.now });
    const before = await store().list();
    const rejections: [string, string, string][] = [
      [rotated.id, 'CONFLICT', `${rotated.id} was rotated already; its successor is ${credential.id}.`],
      [revoked.id, 'CONFLICT', `${revoked.id} is expired or revoked; issue a new credential.`],
      [expired.id, 'CONFLICT', `${expired.id} is expired or revoked; issue a new credential.`],
      ['cred_none', 'NOT_FOUND', 'There is no credential cred_none.'],
    ];
    for (const [id, code, message] of rejections) {
      await expect(rotateCredential(store(), id, hour, t.clock.now)).rejects.toMatchObject({ code, message });
    }
    expect(await store().list()).toStrictEqual(before);
  });

  it('rotates the successor in its turn', async () => {
    const { id } = await t.issue('management');
    const first = await rotateCredential(store(), id, hour, t.clock.now);
    const second = await rotateCredential(store(), first.credential.id, 0, t.clock.now);
    expect([await opens(first.secret), await opens(second.secret)]).toStrictEqual([false, true]);
  });

  it('writes both credentials or none: without an end of the old one there is no successor', async () => {
    const { id, secret } = await t.issue('management');
    const other = new Database(join(folder, 'keyfront.db'));
    other.exec("CREATE TRIGGER fault BEFORE UPDATE ON credentials BEGIN SELECT RAISE(ABORT, 'fault'); END");
    const before = await store().list();
    await expect(rotateCredential(store(), id, 0, t.clock.now)).rejects.toThrow('fault');
    other.exec('DROP TRIGGER fault');
    other.close();
    expect(await store().list()).toStrictEqual(before);
    expect(await opens(secret)).toBe(true);
  });
});

describe('the last use of a credential', () => {
  const minute = async () => {
    later(60_000);
    await vi.advanceTimersByTimeAsync(60_000);
  };

  it('writes the time within a minute, and not during requests', async () => {
    const { id, secret } = await t.issue('management');
    const watching = new Database(join(folder, 'keyfront.db'), { readonly: true });
    const version = () => Number(watching.pragma('data_version', { simple: true }));
    const before = version();
    for (let count = 0; count < 50; count += 1) expect(await opens(secret)).toBe(true);
    expect(version()).toBe(before);
    const used = t.clock.now;
    await minute();
    expect((await found(id)).lastUsed).toStrictEqual(used);
    expect(version()).not.toBe(before);
    watching.close();
  });

  it('writes once a minute for any number of requests, and not at all without requests', async () => {
    const { id, secret } = await t.issue('management');
    const watching = new Database(join(folder, 'keyfront.db'));
    watching.exec('CREATE TABLE writes (id TEXT) STRICT');
    watching.exec(
      'CREATE TRIGGER counting AFTER UPDATE OF last_used ON credentials BEGIN INSERT INTO writes VALUES (new.id); END',
    );
    const writes = () => watching.prepare('SELECT id FROM writes').pluck().all();
    for (let count = 0; count < 20; count += 1) await opens(secret);
    await minute();
    expect(writes()).toStrictEqual([id]);
    await minute();
    await minute();
    expect(writes()).toStrictEqual([id]);
    await opens(secret);
    await minute();
    expect(writes()).toStrictEqual([id, id]);
    watching.close();
  });

  it('ignores requests with an invalid credential', async () => {
    const { id, secret } = await t.issue('management');
    await opens(secret.slice(0, -1) + (secret.endsWith('x') ? 'y' : 'x'));
    await t.graphql('{ __typename }', {}, { 'x-svc-authorization': secret, authorization: '' });
    await store().revoke(id, t.clock.now);
    await opens(secret);
    await minute();
    expect((await found(id)).lastUsed).toBeUndefined();
  });

  it('writes the time when the service stops', async () => {
    const { id, secret } = await t.issue('management');
    await opens(secret);
    const used = t.clock.now;
    await t.close();
    t = await startApp({ KEYFRONT_DATA: folder });
    expect((await found(id)).lastUsed).toStrictEqual(used);
  });

  it('retries after a minute when the database is busy, without failing a request', async () => {
    const { id, secret } = await t.issue('management');
    await opens(secret);
    const used = t.clock.now;
    const other = new Database(join(folder, 'keyfront.db'));
    other.exec('BEGIN IMMEDIATE');
    await minute();
    await vi.waitFor(() => expect(t.logs()).toContain('cannot write the last uses of credentials'), {
      timeout: 100_000,
    });
    expect(await opens(t.management)).toBe(true);
    other.exec('ROLLBACK');
    other.close();
    await minute();
    expect((await found(id)).lastUsed).toStrictEqual(used);
  });
});

describe('the credentials table', () => {
  const insert = (hash: Uint8Array) => {
    const database = new Database(join(folder, 'keyfront.db'));
    try {
      database
        .prepare(
          "INSERT INTO credentials (id, kind, label, secret_hash, created, mac) VALUES (?, 'management', 'x', ?, 0, x'00')",
        )
        .run(`cred_${hash.length}${String(hash[0])}`, hash);
    } finally {
      database.close();
    }
  };
  const sha256 = (text: string) => createHash('sha256').update(text).digest();

  it('A-10 rejects rows without a hash and hashes of another length', () => {
    expect(() => insert(sha256(''))).toThrow('CHECK constraint failed');
    expect(() => insert(new Uint8Array())).toThrow('CHECK constraint failed');
    expect(() => insert(sha256('x').subarray(0, 31))).toThrow('CHECK constraint failed');
  });

  it('A-10 rejects a published secret, even if its hash is in the database', async () => {
    const known = ['secret', 'password', 'changeme', 'keyfront', 'admin', 'kf_mgt_', `kf_mgt_${'0'.repeat(38)}`];
    for (const secret of known) {
      insert(sha256(secret));
      expect(await opens(secret)).toBe(false);
      expect((await t.preview({}, { authorization: `Bearer ${secret}` })).status).toBe(401);
    }
  });

  it('is empty until a credential is issued', () => {
    const database = openDatabase(':memory:');
    expect(database.prepare('SELECT count(*) FROM credentials').pluck().get()).toBe(0n);
    database.close();
  });

  it('A-10 matches no example in the published documents', async () => {
    for (const file of [
      ...documents,
      'CHANGELOG.md',
      'schema/schema.graphql',
      'schema/openapi.json',
      'src/cli/serve/first-start.ts',
    ]) {
      const text = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8');
      expect(text.match(/kf_(mgt|svc)_\w{38}/)).toBeNull();
    }
  });
});
