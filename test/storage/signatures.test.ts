import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createMemoryKeyRing, type KeyRing } from '../../src/crypto/key-ring.js';
import { createRowSigner } from '../../src/crypto/row-signer.js';
import { createScheduler } from '../../src/lib/scheduler.js';
import { createCredentialStore } from '../../src/storage/sql/credential-store.js';
import { createSignatures } from '../../src/storage/sql/signatures.js';
import { createPolicyStore } from '../../src/storage/sql/policy-store.js';
import { createWebhookStore } from '../../src/storage/sql/webhook-store.js';
import { startApp, startOwnApp, type TestApp } from '../support/app.js';
import { makeOwnCommandLine, type CommandLine } from '../support/cli.js';
import { describeEngines, makeOwnPlace, sqlite, type EnginePlace, type TestEngine } from '../support/engines.js';
import { aChange, aCredential, aKey, anUpdate, aWebhook, hashOf } from '../support/factories.js';
import { sendRequest } from '../support/responses.js';
import { changePolicies } from '../support/policies.js';
import { openOwnSession, sqliteKeyStore } from '../support/storage.js';

let place: EnginePlace;
let t: TestApp;
let c: CommandLine;
function onEach(engine: TestEngine): void {
  beforeEach(async () => {
    c = await makeOwnCommandLine();
    place = await makeOwnPlace(engine);
    t = await startOwnApp(place.env);
    await t.importKeys(
      { key_id: 'k1', org_id: 'acme', alias: 'one', tags: ['gold'], quota_max: 100, hmac_string: 'Xq7-hmac' },
      { key_id: 'k2', org_id: 'globex', alias: 'two', tags: ['silver'], quota_max: 5 },
    );
    for (const alias of ['a', 'b', 'c']) await t.update('k1', { alias, tags: ['gold'], quota_max: 100 });
  });
}

const keyfront = (...args: string[]) => c.keyfront(args, place.env);
const hash = (keyID: string) => t.app.services.ports.hashKeyID(keyID);
const read = (keyID: string) => sendRequest(t, 'GET', `/svc/org/keys/${keyID}`);

const internal = { status: 500, body: expect.objectContaining({ code: 'INTERNAL', message: 'Internal error.' }) };
const masked = { errors: [expect.objectContaining({ message: 'Internal error.' })] };

/** All operations that read or change the row of `k1`. */
const uses: Record<string, () => Promise<unknown>> = {
  'a read': () => read('k1'),
  'an update': () => t.update('k1', { alias: 'x' }),
  'a verification': () => sendRequest(t, 'POST', '/svc/keys/verify', { requests: [{ key_id: 'k1' }] }),
  'a consumption': () => sendRequest(t, 'POST', '/svc/org/keys/k1/quota', { amount: 1 }),
  'a deletion': () => sendRequest(t, 'DELETE', '/svc/org/keys/k1'),
  'a creation': () => sendRequest(t, 'POST', '/svc/org/keys/k1', { org_id: 'acme' }),
};

describeEngines('D-08 a row that fails its integrity check', (engine) => {
  onEach(engine);

  it.each([
    [
      'its version',
      () => "UPDATE keys SET version = version - 1 WHERE org = (SELECT id FROM orgs WHERE name = 'acme')",
    ],
    [
      'its owner',
      () =>
        "UPDATE keys SET org = (SELECT id FROM orgs WHERE name = 'globex') WHERE org = (SELECT id FROM orgs WHERE name = 'acme')",
    ],
    [
      'a limit',
      () =>
        `UPDATE keys SET definition = replace(definition, '100', '101') WHERE org = (SELECT id FROM orgs WHERE name = 'acme')`,
    ],
    [
      'the count of its quota',
      () => "UPDATE keys SET quota_used = quota_used + 1 WHERE org = (SELECT id FROM orgs WHERE name = 'acme')",
    ],
    ['its secrets', () => "UPDATE keys SET hmac_string = NULL WHERE org = (SELECT id FROM orgs WHERE name = 'acme')"],
    [
      'its signature being there',
      () => `UPDATE keys SET mac = ${place.bytes('')} WHERE org = (SELECT id FROM orgs WHERE name = 'acme')`,
    ],
    ['itself being there', () => "DELETE FROM keys WHERE org = (SELECT id FROM orgs WHERE name = 'acme')"],
  ])('returns INTERNAL for every use, and is named in the log only, after a change of %s', async (what, change) => {
    await place.tamper(change());
    for (const [name, use] of Object.entries(uses)) expect(await use(), name).toMatchObject(internal);
    // A page names it, and has the other keys.
    const page = await sendRequest(t, 'GET', '/svc/org/keys');
    const errors = [{ key_hash: hash('k1'), code: 'INTERNAL', message: 'Internal error.' }];
    expect(page.status).toBe(200);
    expect(page.body['errors']).toEqual(what === 'itself being there' ? undefined : errors);
    expect((await t.graphql('{ orgKey(by: { keyID: "k1" }) { alias: keyHash } }')).body).toMatchObject(masked);
    expect(t.logs()).toContain(`The key ${hash('k1')} failed its integrity check`);
    expect(t.logs()).not.toContain('Xq7-');
    expect((await read('k2')).status).toBe(200);
    expect((await t.update('k2', { alias: 'x' })).status).toBe(200);
    expect(await keyfront('check')).toMatchObject({ code: 1 });
  });

  it('fails alone in a bulk change that reads it', async () => {
    await place.tamper("UPDATE keys SET quota_used = 7 WHERE org = (SELECT id FROM orgs WHERE name = 'globex')");
    const { body } = await t.graphql(
      'mutation { resetOrgQuotas(filter: {}, dryRun: false) { items { error { code } } } }',
    );
    const { items } = (body['data'] as { resetOrgQuotas: { items: { error: object | null }[] } }).resetOrgQuotas;
    expect(items.filter(({ error }) => error !== null)).toEqual([{ error: { code: 'INTERNAL' } }]);
  });

  it('is not purged, because its date may have been changed', async () => {
    await place.tamper("UPDATE keys SET deleted = 1 WHERE org = (SELECT id FROM orgs WHERE name = 'acme')");
    expect(await t.app.services.store.purge(t.clock.now)).toBe(0);
    expect(await read('k1')).toMatchObject(internal);
  });

  it('is not found by an index that contradicts it, such as another owner', async () => {
    const bound = (await t.issue('service', { orgID: 'globex' })).secret;
    // What a damaged index does: the row of the one is found where that of the other was.
    await place.tamper(
      "UPDATE key_terms SET org = (SELECT id FROM orgs WHERE name = 'globex') WHERE term = (SELECT id FROM terms WHERE name = 't:gold')",
    );
    const response = await t.send('/svc/org/keys?tag=gold', { headers: { 'x-svc-authorization': bound } });
    expect(response).toMatchObject(internal);
  });

  it.each([
    ['a reason', () => "UPDATE history SET reason = 'x' WHERE version = 2"],
    ['a signature being there', () => `UPDATE history SET mac = ${place.bytes('')} WHERE version = 2`],
    ['an entry being there', () => 'DELETE FROM history WHERE version = 2'],
    ['the order', () => 'UPDATE history SET version = 9 WHERE version = 2'],
    [
      'an entry for another',
      () => `UPDATE history SET (before, link, mac) = (SELECT before, link, mac FROM history WHERE version = 3)
       WHERE version = 2`,
    ],
  ])('returns INTERNAL for a page of history after a change of %s, and returns the other pages', async (_, change) => {
    await place.tamper(change());
    const page = (args: string) =>
      t.graphql(`{ orgKey(by: { keyID: "k1" }) { history(${args}) { edges { cursor node { version reason } } } } }`);
    expect((await page('first: 3')).body).toMatchObject(masked);
    expect((await page('last: 3')).body).toMatchObject(masked);
    const newest = await page('last: 1');
    expect(newest.body).toMatchObject({ data: { orgKey: { history: { edges: [{ node: { version: 4 } }] } } } });
    const revert = (version: number) =>
      t.graphql(`mutation { revertOrgKey(keyID: "k1", toVersion: ${version}) { changed } }`);
    // The definition of a version is in the entry of the next one.
    expect((await revert(1)).body).toMatchObject(masked);
    expect((await revert(3)).body).toMatchObject({ data: { revertOrgKey: { changed: true } } });
    expect(await keyfront('check')).toMatchObject({ code: 1 });
  });

  it('authenticates no request as a credential, neither revoked nor widened', async () => {
    const { id, secret } = await t.issue('service', { orgID: 'acme' });
    await t.app.services.credentials.revoke(id, t.clock.now);
    await place.tamper(`UPDATE credentials SET revoked = NULL, org_id = NULL WHERE id = '${id}'`);
    const response = await t.send('/svc/org/keys', { headers: { 'x-svc-authorization': secret } });
    expect(response).toMatchObject(internal);
    await expect(t.app.services.credentials.list()).rejects.toThrow(`The credential ${id} failed its integrity check`);
    await expect(t.app.services.credentials.revoke(id, t.clock.now)).rejects.toThrow(id);
    expect((await read('k1')).status).toBe(200);
    expect((await keyfront('check')).stderr).toContain(`The credential ${id} fails the integrity check.`);
  });

  it('is reported by check when a key is missing from an index', async () => {
    await place.tamper("DELETE FROM key_terms WHERE term = (SELECT id FROM terms WHERE name = 't:gold')");
    const message = 'The index of tags, policies, APIs and identifiers does not match the key';
    expect((await keyfront('check')).stderr).toContain(message);
  });

  it('cannot be added without a signature', async () => {
    await expect(
      place.run(
        `INSERT INTO credentials (id, kind, label, secret_hash, created) VALUES ('1', '2', '3', ${place.bytes('00')}, 5)`,
      ),
    ).rejects.toThrow(/NOT NULL constraint failed: credentials\.mac|null value in column "mac"/);
    expect((await read('k1')).status).toBe(200);
  });
});

const file = () => join(place.folder, 'keyfront.db');

describe('a database of signed rows', () => {
  onEach(sqlite);

  it('is rejected without its key check value, and is left unchanged', async () => {
    await t.close();
    await place.tamper(
      "UPDATE keys SET quota_used = 0, mac = x'' WHERE org = (SELECT id FROM orgs WHERE name = 'acme')",
      "DELETE FROM settings WHERE name = 'key_ring'",
    );
    const before = await readFile(file());
    await expect(startApp(place.env)).rejects.toThrow(
      `The database ${file()} is damaged: the check value of its key ring is missing.`,
    );
    expect(await readFile(file())).toStrictEqual(before);
  });
});

describe('the rotation of the key ring', () => {
  onEach(sqlite);

  it('drops no key under which a row is still signed, even in a history', async () => {
    const oldest = async () => (await place.rows<{ mac: Buffer }>('SELECT mac FROM history WHERE id = 1'))[0]?.mac;
    const old = await oldest();
    await keyfront('secrets', 'rotate');
    expect(await oldest()).not.toStrictEqual(old);
    // As a rotation leaves it that breaks off after the keys.
    await place.tamper(`UPDATE history SET mac = x'${old?.toString('hex')}' WHERE id = 1`);
    const prune = await keyfront('secrets', 'prune');
    expect([prune.code, prune.stderr]).toStrictEqual([
      1,
      'An older key is still in use. Run `keyfront secrets rotate` first.\n',
    ]);
    await keyfront('secrets', 'rotate');
    expect(await keyfront('secrets', 'prune')).toMatchObject({ code: 0 });
  });
});

describe('the signatures of all tables', () => {
  const tables = ['keys', 'history', 'credentials', 'webhooks', 'policies', 'heads', 'quota_changes'];
  /** More than one page. */
  const count = 250;
  const [first, second] = [createMemoryKeyRing(new Date(0)), createMemoryKeyRing(new Date(0))];
  const keyOf: KeyRing['keyOf'] = (id) => (id === 'k2' ? second : first).keyOf('k1');
  const rotated: KeyRing = { primaryID: 'k2', ids: ['k1', 'k2'], keyOf };

  async function prepare() {
    let ring = first;
    const signer = createRowSigner(() => ring);
    const { database, gate, session } = openOwnSession();
    const store = sqliteKeyStore(database, signer, { gate });
    const credentials = createCredentialStore(session, signer);
    const quotaChange = {
      ...{ keyHash: hashOf(0), identity: 'a'.repeat(32), lastUpdated: 1n, at: new Date(0) },
      ...{ isReset: false, periodBefore: 1n, periodAfter: 2n },
    };
    await store.add(Array.from({ length: count }, (_, name) => aChange(aKey(name))));
    await store.update(hashOf(0), (found) => ({ ...anUpdate(found), quotaChange }));
    await credentials.beginHead();
    // Identifiers come before all letters, too.
    await credentials.add(aCredential('1'));
    await createWebhookStore(session, signer).add(aWebhook('1'), 'start');
    const policy = { policyID: '1', governs: [] };
    await changePolicies(
      createPolicyStore(session, signer, createScheduler()),
      [{ policyID: '1', policy }],
      new Date(0),
    );
    ring = rotated;
    const rows = () =>
      tables.map((table) =>
        database
          .prepare<[], { mac: Buffer }>(`SELECT mac FROM ${table}`)
          .all()
          .map(({ mac }) => mac.subarray(3, 5).toString()),
      );
    return { database, rows, signatures: createSignatures(session, signer) };
  }

  it('are renewed under the current key, once for each row', async () => {
    const { signatures, rows } = await prepare();
    const sizes = [count, count + 1, 1, 1, 1, 2, 1];
    expect(rows()).toStrictEqual(sizes.map((size) => Array.from({ length: size }, () => 'k1')));
    expect(await signatures.older()).toStrictEqual({ hasValid: true, damaged: 0 });
    let renewed = 0;
    expect(await signatures.renew(() => (renewed += 1))).toBe(0);
    expect(renewed).toBe(sizes.reduce((sum, size) => sum + size));
    expect(rows()).toStrictEqual(sizes.map((size) => Array.from({ length: size }, () => 'k2')));
    expect(await signatures.older()).toStrictEqual({ hasValid: false, damaged: 0 });
    expect(await signatures.renew(() => (renewed += 1))).toBe(0);
    expect(renewed).toBe(sizes.reduce((sum, size) => sum + size));
  });

  it('are left as they are if they are damaged, and counted', async () => {
    const { database, signatures } = await prepare();
    database.exec('UPDATE keys SET mac = zeroblob(40); UPDATE webhooks SET mac = zeroblob(40)');
    expect(await signatures.renew(() => undefined)).toBe(count + 1);
    expect(await signatures.older()).toStrictEqual({ hasValid: false, damaged: count + 1 });
  });

  it('are counted up to the first page with a valid one', async () => {
    const { database, signatures } = await prepare();
    database.exec('UPDATE keys SET mac = zeroblob(40)');
    expect(await signatures.older()).toStrictEqual({ hasValid: true, damaged: count });
  });
});
