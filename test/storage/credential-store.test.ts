import { beforeEach, describe, expect, it } from 'vitest';
import type { CredentialStore } from '../../src/credentials/credential.js';
import { credentialTable, credentialToRow } from '../../src/storage/records/credential.js';
import { headTable, stampOf, stampsToContent } from '../../src/storage/records/head.js';
import { createSignedTable } from '../../src/storage/records/signed.js';
import { createCredentialStore } from '../../src/storage/sql/credential-store.js';
import { sqliteDialect } from '../../src/storage/sql/dialect.js';
import type { Prepared, SqlSession } from '../../src/storage/sql/session.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { aCredential } from '../support/factories.js';
import { signer } from '../support/signer.js';
import { openOwnServices } from '../support/storage.js';

const at = new Date('2026-01-31T12:00:00Z');
const after = (ms: number) => new Date(at.getTime() + ms);
const hashOf = (id: string) => aCredential(id).secretHash;

describeEngines('the credential store', (engine) => {
  let place: EnginePlace;
  let store: CredentialStore;
  const open = async () => (await openOwnServices(place)).credentials;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    store = await open();
  });

  it('returns exactly what was added, by the time of creation and then by the ID', async () => {
    const full = aCredential('c', {
      kind: 'management',
      label: 'Bücher \u{1f4da}',
      orgID: 'acme',
      scopes: ['read', 'update'],
      lastFour: 'abcd',
      created: after(-1),
      expires: after(1),
      revoked: after(2),
      lastUsed: after(3),
      successorID: 'a',
    });
    const [first, second] = [aCredential('a'), aCredential('b')];
    for (const credential of [second, full, first]) await store.add(credential);
    expect(await store.list()).toMatchObject([full, first, second].map(({ secretHash: _, ...rest }) => rest));
    expect((await store.list()).map(({ secretHash }) => [...secretHash])).toStrictEqual(
      [full, first, second].map(({ secretHash }) => [...secretHash]),
    );
  });

  it('finds a credential by the hash of its secret, with its state at a time', async () => {
    expect(await store.findBySecretHash(hashOf('none'), at)).toBeUndefined();
    await store.add(aCredential('a', { orgID: 'acme', scopes: ['read'] }));
    await store.add(aCredential('ends', { expires: at }));
    await store.add(aCredential('gone', { revoked: at }));
    await store.add(aCredential('both', { expires: at, revoked: at }));
    const found = async (id: string, time: Date) => (await store.findBySecretHash(hashOf(id), time))?.state;
    expect(await store.findBySecretHash(hashOf('a'), at)).toStrictEqual({
      ...{ id: 'a', kind: 'service', label: 'a label', orgID: 'acme', scopes: ['read'], state: 'active' },
    });
    // Also when it is looked up again.
    for (let time = 0; time < 2; time += 1) {
      expect(await found('ends', after(-1))).toBe('active');
      expect(await found('ends', at)).toBe('expired');
      for (const id of ['gone', 'both']) expect(await found(id, after(1))).toBe('revoked');
    }
    expect(await store.findBySecretHash(new Uint8Array(32), at)).toBeUndefined();
    expect(await store.findBySecretHash(new Uint8Array(32).fill(255), at)).toBeUndefined();
  });

  it('finds the newest state of a credential by its ID', async () => {
    const other = await open();
    for (const id of ['a', '', 'nul\0']) expect(await store.find(id)).toBeUndefined();
    const credential = aCredential('a', { orgID: 'acme', successorID: 'b', expires: at });
    await store.add(credential);
    const { secretHash: _, ...found } = credential;
    expect(await store.find('a')).toMatchObject(found);
    await other.revoke('a', at);
    expect(await store.find('a')).toMatchObject({ ...found, revoked: at });
    await other.add(aCredential('b'));
    expect(await store.find('a')).toMatchObject({ ...found, revoked: at });
    expect(await store.find('b')).toMatchObject({ id: 'b' });
  });

  it('sees at once that another process has revoked a credential', async () => {
    const other = await open();
    await store.add(aCredential('a'));
    expect((await store.findBySecretHash(hashOf('a'), at))?.state).toBe('active');
    expect(await other.revoke('a', at)).toBe(true);
    expect((await store.findBySecretHash(hashOf('a'), at))?.state).toBe('revoked');
  });

  it('keeps the first time at which a credential was revoked', async () => {
    await store.add(aCredential('a'));
    expect(await store.revoke('a', at)).toBe(true);
    expect(await store.revoke('a', after(1))).toBe(true);
    expect((await store.list())[0]?.revoked).toStrictEqual(at);
    for (const id of ['unknown', 'nul\0']) expect(await store.revoke(id, at)).toBe(false);
  });

  it('keeps the latest time at which a credential was used', async () => {
    await store.add(aCredential('a'));
    await store.add(aCredential('b'));
    const uses = (ms: number) => new Map(['a', 'unknown', 'nul\0'].map((id) => [id, after(ms)]));
    for (const ms of [5, 3]) await store.markUsed(uses(ms));
    expect((await store.list()).map(({ lastUsed }) => lastUsed)).toStrictEqual([after(5), undefined]);
  });

  it('writes nothing when a replacement is rejected', async () => {
    await store.add(aCredential('a'));
    const rejected = store.replace('a', () => {
      throw new Error('no successor');
    });
    await expect(rejected).rejects.toThrow('no successor');
    expect(await store.list()).toHaveLength(1);
    const replacement = await store.replace('a', (found) => ({
      retired: { ...(found ?? aCredential('a')), expires: at, successorID: 'b' },
      successor: aCredential('b'),
    }));
    expect(replacement.successor.id).toBe('b');
    expect(await store.list()).toMatchObject([{ id: 'a', expires: at, successorID: 'b' }, { id: 'b' }]);
    expect(await store.findRolledBack()).toStrictEqual([]);
  });

  it('reads pages in the order of the list, of all or of one organization', async () => {
    const all = ['d', 'c', 'b', 'a', 'e'].map((id, n) => {
      return aCredential(id, {
        created: after(n < 2 ? 1 : 0),
        ...(id !== 'c' && { orgID: n % 2 ? 'globex' : 'acme' }),
      });
    });
    for (const credential of all) await store.add(credential);
    for (const orgID of [undefined, 'acme', 'globex', 'none', 'nul\0']) {
      const found: string[] = [];
      for (let last: { id: string; created: Date } | undefined; ;) {
        const page = await store.page({ orgID, after: last, limit: 2 });
        found.push(...page.map(({ id }) => id));
        if (page.length < 2) break;
        last = page.at(-1);
      }
      const expected = (await store.list()).filter((one) => orgID === undefined || one.orgID === orgID);
      expect(found).toStrictEqual(expected.map(({ id }) => id));
    }
  });

  it('counts the credentials of an organization, one issue after the other, and adds an ID once', async () => {
    const stores = [store, await open()];
    await store.add(aCredential('gone', { orgID: 'acme', revoked: at }));
    await store.add(aCredential('old', { orgID: 'acme', created: after(-86_400_000) }));
    await store.add(aCredential('ended', { orgID: 'acme', expires: at }));
    await store.add(aCredential('unbound'));
    const counts: { active: number; recent: number }[] = [];
    const add = (id: string, index: number) =>
      (stores[index % 2] ?? store).add(aCredential(id, { orgID: 'acme' }), (found) => counts.push(found));
    const added = await Promise.all(['x', 'x', 'y', 'z', 'x'].map(add));
    expect(counts.map(({ active }) => active)).toStrictEqual([1, 2, 3]);
    expect(counts.map(({ recent }) => recent)).toStrictEqual([2, 3, 4]);
    expect(added.map(({ id }) => id)).toStrictEqual(['x', 'x', 'y', 'z', 'x']);
    const full = store.add(aCredential('w', { orgID: 'acme' }), () => {
      throw new Error('full');
    });
    await expect(full).rejects.toThrow('full');
    expect(await store.list()).toHaveLength(7);
    expect(await store.findRolledBack()).toStrictEqual([]);
  });

  it('knows the newest state of each credential when two processes change several at once', async () => {
    const stores = [store, await open()];
    const ids = Array.from({ length: 12 }, (_, index) => `credential ${index}`);
    const storeAt = (index: number) => stores[index % 2] ?? store;
    await Promise.all(ids.map((id, index) => storeAt(index).add(aCredential(id))));
    await Promise.all(ids.map((id, index) => storeAt(index + 1).revoke(id, at)));
    expect((await store.list()).map(({ revoked }) => revoked)).toStrictEqual(ids.map(() => at));
    for (const one of stores) expect(await one.findRolledBack()).toStrictEqual([]);
  });

  it('names the credentials that are damaged, rolled back or missing', async () => {
    const ids = ['damaged', 'missing', 'older', 'sound'];
    for (const id of ids) await store.add(aCredential(id));
    await place.run('CREATE TABLE saved AS SELECT * FROM credentials');
    await store.revoke('older', at);
    await place.run(
      `DELETE FROM credentials WHERE id IN ('older', 'missing')`,
      `INSERT INTO credentials SELECT * FROM saved WHERE id = 'older'`,
    );
    await place.tamper(`UPDATE credentials SET label = 'forged' WHERE id = 'damaged'`);
    expect(await store.findDamaged()).toStrictEqual(['damaged']);
    expect(await store.findRolledBack()).toStrictEqual([{ id: 'older', label: 'a label' }, { id: 'missing' }]);
    await expect(store.findBySecretHash(hashOf('damaged'), at)).rejects.toThrow(
      'The credential damaged failed its integrity check',
    );
    const fresh = await open();
    await expect(fresh.findBySecretHash(hashOf('older'), at)).rejects.toMatchObject({
      code: 'INTERNAL',
      message:
        'The credential older is not in its newest state: an older row was put back; run `keyfront check` for details.',
    });
    expect((await fresh.findBySecretHash(hashOf('sound'), at))?.state).toBe('active');
    for (const id of ['damaged', 'missing', 'older']) {
      await expect(fresh.find(id)).rejects.toMatchObject({
        code: 'INTERNAL',
        message: expect.stringContaining(id) as string,
      });
    }
    expect(await fresh.find('sound')).toMatchObject({ id: 'sound' });
  });
});

describe('a credential store whose credentials change during every read', () => {
  const heads = createSignedTable(signer, headTable);
  const credential = createSignedTable(signer, credentialTable).signed(credentialToRow(aCredential('a')));
  const content = stampsToContent(new Map([['a', stampOf(credential)]]));
  let reads: Record<'head' | 'credentials', number>;
  let store: CredentialStore;
  beforeEach(() => {
    reads = { head: 0, credentials: 0 };
    const headAt = (sequence: number) => heads.signed({ name: 'credentials', sequence: BigInt(sequence), content });
    const all = ({ text }: Prepared): Promise<readonly object[]> => {
      if (!text.includes('FROM credentials')) return Promise.resolve([headAt((reads.head += 1))]);
      reads.credentials += 1;
      return Promise.resolve([{ ...credential, state: 'active', head_mac: headAt(0).mac }]);
    };
    const unused = () => Promise.reject(new Error('It only reads.'));
    const session = { dialect: sqliteDialect, all, run: unused, transaction: unused, snapshot: unused } as SqlSession;
    store = createCredentialStore(session, signer);
  });

  it('rejects a secret with UNAVAILABLE after five attempts', async () => {
    await expect(store.findBySecretHash(hashOf('a'), at)).rejects.toMatchObject({
      ...{ code: 'UNAVAILABLE', message: 'Storage is busy.', retryAfterSeconds: 1 },
    });
    expect(reads).toStrictEqual({ head: 5, credentials: 5 });
  });

  it('compares the credentials of the fifth attempt with their head', async () => {
    expect(await store.findRolledBack()).toStrictEqual([]);
    expect(reads).toStrictEqual({ head: 10, credentials: 5 });
  });
});
