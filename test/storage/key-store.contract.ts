import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJSONCarefully } from '../../src/lib/json.js';
import type { Definition } from '../../src/keys/definition/normalize.js';
import type { QuotaOutbox } from '../../src/keys/quota/external-counters.js';
import type { QuotaChange } from '../../src/keys/quota/quota-change.js';
import { createReadBudget } from '../../src/keys/read-budget.js';
import { keyStates, type Actor, type KeyState, type StoredKey } from '../../src/keys/key.js';
import {
  keyOrders,
  positionOf,
  type HistoryRange,
  type KeyFilter,
  type KeyOrder,
  type KeyPage,
  type KeyPosition,
  type KeyQuery,
} from '../../src/keys/key-query.js';
import type { NameQuery } from '../../src/keys/key-query.js';
import type { KeyTransition, IntegrityReport, KeyStore } from '../../src/keys/ports.js';
import { matchesFilter } from '../../src/storage/sql/keys/key-query.js';
import { allOf, collect } from '../support/collect.js';
import { aChange, aKey, anUpdate, aRevision, hashOf, rowIDOf } from '../support/factories.js';
import { misreadJSON } from '../support/misread-json.js';

const maxInt64 = 9223372036854775807n;
const minInt64 = -9223372036854775808n;

/** A place of storage that outlives the stores that are opened on it. */
export interface Place {
  /** Opens it like another process. */
  open(): Promise<{ store: KeyStore & QuotaOutbox; close: () => Promise<void> }>;
  /** Runs a statement, bypassing the store. */
  tamper(statement: string): Promise<void>;
}

/** A key with every field of storage filled, at the ends of its range. */
const full = aKey('full', {
  sealedKeyID: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  orgID: 'ácme 🔑',
  dateCreated: '0001-01-01T00:00:00.123456789Z',
  lastUpdated: maxInt64,
  definition: {
    accessRights: [{ label: 'a', limit: { quotaMax: maxInt64, rate: 0.1 } }],
    alias: 'quotes " and \\ and \u2028 and 🔑',
    expires: minInt64,
    quotaMax: maxInt64,
    quotaRemaining: 9007199254740993n,
    rate: 5e-324,
    per: Number.MAX_VALUE,
    maxQueryDepth: -1,
    metaData: { list: [1, null, { deep: true }], big: 9007199254740993n, __proto: 'x' },
    tags: [],
  } satisfies Definition,
  secrets: {
    passwordHash: '$2b$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    jwtSecret: Uint8Array.of(0, 255),
    hmacString: new Uint8Array(4096).fill(7),
  },
  quota: { used: maxInt64, renews: minInt64 },
});

/** The key with every byte array as a Uint8Array: engines return other classes. */
function plain<T>(value: T): T {
  const bytes = (array: Uint8Array | undefined) => array && Uint8Array.from(array);
  const one = (key: StoredKey): StoredKey => ({
    ...key,
    sealedKeyID: Uint8Array.from(key.sealedKeyID),
    secrets: { ...key.secrets, jwtSecret: bytes(key.secrets.jwtSecret), hmacString: bytes(key.secrets.hmacString) },
  });
  return value === undefined ? value : (one(value as StoredKey) as T);
}

/** Gives a key the signature of another one, because the database rejects an update that keeps it. */
const forged = (index: number, other: number) =>
  `UPDATE keys SET mac = (SELECT mac FROM keys WHERE id = ${rowIDOf(hashOf(other))}) WHERE id = ${rowIDOf(hashOf(index))}`;

async function everything(store: KeyStore): Promise<StoredKey[]> {
  return (await collect(store.all())).flatMap(({ key }) => key ?? []);
}

/** The reports of keys with any damage. */
async function damagesIn(store: KeyStore): Promise<IntegrityReport[]> {
  const reports = await collect(store.verifyIntegrity());
  return reports.filter(({ key, isHistoryIntact, isIndexed }) => !key || !isHistoryIntact || !isIndexed);
}

/** What every engine promises. `makePlace` makes an empty place of an engine, which is removed after the running test. */
export function keyStoreContract(name: string, makePlace: () => Promise<Place>): void {
  describe(`the key store on ${name}`, () => {
    let place: Place;
    let store: KeyStore & QuotaOutbox;
    let close: () => Promise<void>;
    beforeEach(async () => {
      place = await makePlace();
      ({ store, close } = await place.open());
    });
    afterEach(() => close());

    async function reopen(): Promise<void> {
      await close();
      ({ store, close } = await place.open());
    }

    it('finds exactly what was added, also after it was closed and opened again', async () => {
      for (const key of [full, aKey('empty'), aKey('old', { version: 2 ** 31 - 1 })]) {
        expect(await store.add([aChange(key)])).toStrictEqual([true]);
        expect(plain(await store.find(key.keyHash))).toStrictEqual(key);
        await reopen();
        expect(plain(await store.find(key.keyHash))).toStrictEqual(key);
      }
    });

    it.each(misreadJSON)('finds the member name of $second after $first', async ({ first, second, name }) => {
      for (const [index, text] of [first, second].entries()) {
        const key = aKey(index, { definition: { metaData: parseJSONCarefully(text) ?? {} } });
        await store.add([aChange(key)]);
      }
      await reopen();
      const found = [await store.find(hashOf(0)), await store.find(hashOf(1))];
      expect(found.map((key) => Object.keys(key?.definition.metaData ?? {})[1])).toStrictEqual(['\\', name]);
    });

    it('keeps every concurrent change of a large key, with its terms', async () => {
      const key = aKey('large', { definition: { metaData: { notes: 'x'.repeat(20_000) }, tags: ['old'] } });
      await store.add([aChange(key)]);
      const changes = Array.from({ length: 6 }, (_, n) =>
        store.update(key.keyHash, (found) =>
          anUpdate(found, { definition: { ...found?.definition, tags: [`tag ${n}`] } }),
        ),
      );
      const versions = (await Promise.all(changes)).map((one) => one?.next.version);
      expect(new Set(versions)).toStrictEqual(new Set([2, 3, 4, 5, 6, 7]));
      expect(await store.historyOf(key.keyHash)).toHaveLength(7);
      const tags = (await store.find(key.keyHash))?.definition.tags ?? [];
      const found = await Promise.all(
        ['old', ...Array.from({ length: 6 }, (_, n) => `tag ${n}`)].map(async (tag) => {
          return (await store.count({ tagsAll: [tag] }, new Date(0))) > 0 ? [tag] : [];
        }),
      );
      expect(found.flat()).toStrictEqual(tags);
    });

    it.each([
      ['small', {}],
      ['large', { metaData: { notes: 'x'.repeat(20_000) } }],
    ])('writes nothing if the change of a %s key returns undefined', async (name, definition) => {
      const key = aKey(name, { definition });
      await store.add([aChange(key)]);
      expect(await store.update(key.keyHash, () => undefined)).toBeUndefined();
      expect(await store.update(hashOf('absent'), () => undefined)).toBeUndefined();
      await reopen();
      expect(plain(await store.find(key.keyHash))).toStrictEqual(key);
      expect(await store.find(hashOf('absent'))).toBeUndefined();
      expect(await store.historyOf(key.keyHash)).toHaveLength(1);
      expect(await damagesIn(store)).toStrictEqual([]);
    });

    it('shows a change that returns undefined the changes requested before it, and writes only those', async () => {
      const key = aKey('noop', { definition: { tags: ['old'] } });
      await store.add([aChange(key)]);
      const seen: unknown[] = [];
      const done = await Promise.all([
        store.update(key.keyHash, (found) => anUpdate(found, { definition: { tags: ['new'] } })),
        store.update(key.keyHash, (found) => {
          seen.push(found?.definition.tags);
          return undefined;
        }),
        store.update(key.keyHash, (found) => anUpdate(found)),
      ]);
      expect(done.map((one) => one?.next.version)).toStrictEqual([2, undefined, 3]);
      expect(seen.at(-1)).toStrictEqual(['new']);
      expect((await store.historyOf(key.keyHash)).map((entry) => entry.versionAfter)).toStrictEqual([1, 2, 3]);
      expect(await store.count({ tagsAll: ['new'] }, new Date(0))).toBe(1);
    });

    it('finds nothing for the hash of no key', async () => {
      await store.add([aChange(aKey(1))]);
      for (const hash of [hashOf(2), '', hashOf(1).toUpperCase(), hashOf(1).slice(0, -1), `${hashOf(1)}0`, 'nul\0']) {
        expect(await store.find(hash)).toBeUndefined();
        expect(await store.historyOf(hash)).toStrictEqual([]);
        expect(await store.pendingFor(hash)).toStrictEqual([]);
      }
    });

    it('returns nothing for the former organization of a key that moved to another', async () => {
      await store.add([aChange(aKey('moved'))]);
      await store.update(hashOf('moved'), (stored) => anUpdate(stored, { orgID: 'globex' }));
      expect(await store.find(hashOf('moved'), 'acme')).toBeUndefined();
      expect(await store.findMany([hashOf('moved')], undefined, 'acme')).toStrictEqual([]);
      const seen: unknown[] = [];
      const look = (stored: StoredKey | undefined): KeyTransition => {
        seen.push(stored);
        throw new Error('no change');
      };
      await expect(store.update(hashOf('moved'), look, 'acme')).rejects.toThrow('no change');
      expect(seen).toStrictEqual([undefined]);
      expect(await store.find(hashOf('moved'), 'globex')).toMatchObject({ orgID: 'globex', version: 2 });
    });

    it('neither reads nor verifies a key of another organization than the given one', async () => {
      await store.add([aChange(aKey('own')), aChange(aKey('foreign', { orgID: 'globex' }))]);
      const [own, foreign] = [hashOf('own'), hashOf('foreign')];
      // A row that were verified would be an INTERNAL error.
      await place.tamper(`UPDATE keys SET quota_used = 7, mac = sealed_key_id WHERE id = ${rowIDOf(foreign)}`);
      await expect(store.find(foreign)).rejects.toMatchObject({ code: 'INTERNAL' });
      for (const keyHash of [foreign, hashOf('unknown')]) {
        expect(await store.find(keyHash, 'acme')).toBeUndefined();
        expect((await store.findMany([keyHash, own], undefined, 'acme')).map((key) => key.keyHash)).toStrictEqual([
          own,
        ]);
        const given: unknown[] = [];
        const change = (stored: StoredKey | undefined) => {
          given.push(stored);
          return anUpdate(stored);
        };
        await expect(store.update(keyHash, change, 'acme')).rejects.toThrow('There is no such key.');
        const decide = (stored: StoredKey | undefined) => ({ next: undefined, result: stored });
        expect(await store.consume(keyHash, decide, 'acme')).toBeUndefined();
        expect(given).toStrictEqual([undefined]);
      }
      // Beside each other, and so in one group of changes.
      for (const orgs of [
        ['acme', 'globex'],
        ['globex', 'acme'],
      ]) {
        const changes = orgs.map((orgID) => store.update(own, (stored) => anUpdate(stored), orgID));
        expect((await Promise.allSettled(changes)).map(({ status }) => status === 'fulfilled')).toStrictEqual(
          orgs.map((orgID) => orgID === 'acme'),
        );
      }
      expect((await store.find(own, 'acme'))?.version).toBe(3);
    });

    it('rejects a key of the given organization whose row is missing although it has a history', async () => {
      await store.add([aChange(aKey('own')), aChange(aKey('foreign', { orgID: 'globex' }))]);
      for (const name of ['own', 'foreign']) await place.tamper(`DELETE FROM keys WHERE id = ${rowIDOf(hashOf(name))}`);
      await expect(store.find(hashOf('own'), 'acme')).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await store.find(hashOf('foreign'), 'acme')).toBeUndefined();
      // Beside each other, and so in one group of changes.
      const update = (name: string, orgID: string) =>
        store.update(hashOf(name), (found) => anUpdate(found), orgID).catch((error: unknown) => error);
      expect(
        await Promise.all([update('own', 'acme'), update('foreign', 'acme'), update('foreign', 'globex')]),
      ).toMatchObject([{ code: 'INTERNAL' }, { message: 'There is no such key.' }, { code: 'INTERNAL' }]);
    });

    it('finds many keys at once, deleted ones too, each once and none for the hash of no key', async () => {
      const keys = [full, aKey(1), aKey(2, { deleted: new Date('2026-01-31T12:00:00Z') }), aKey(3)];
      await store.add(keys.map(aChange));
      const hashes = [hashOf('full'), hashOf(2), hashOf(2), hashOf(4), '', `"'`, 'nul\0', hashOf(1)];
      const found = (await store.findMany(hashes)).map(plain);
      const byHash = (a: StoredKey, b: StoredKey) => (a.keyHash < b.keyHash ? -1 : 1);
      expect(found.sort(byHash)).toStrictEqual(keys.slice(0, 3).sort(byHash));
      expect(await store.findMany([])).toStrictEqual([]);
    });

    it('reads the counter of each key of the organizations once, over any number of pages, while others write', async () => {
      const renews = 1769860800n;
      const definition = { quotaMax: maxInt64, quotaRenewalRate: 60n, applyPolicies: ['gold', 'ü "1"'] };
      const stored = { ...definition, alias: 'a', accessRights: [{ label: 'a' }] };
      const big = Array.from({ length: 4500 }, (_, index) =>
        aKey(index, { orgID: 'b', definition: stored, quota: { used: BigInt(index), renews } }),
      );
      const small = ['a', 'c', 'ü', '\u{10ffff}'].map((orgID) => aKey(orgID, { orgID }));
      const others = [aKey('x', { orgID: 'x' }), aKey('gone', { orgID: 'a', deleted: new Date(0) })];
      // Within the time of a statement, also on a loaded machine.
      for (let from = 0; from < big.length; from += 500) await store.add(big.slice(from, from + 500).map(aChange));
      await store.add([...small, ...others].map(aChange));
      const read: string[] = [];
      const used: bigint[] = [];
      for await (const page of store.counters(['\u{10ffff}', 'c', 'b', 'a', 'ü', 'unknown', 'b'])) {
        read.push(...page.map(({ orgID }) => orgID));
        used.push(...page.filter(({ orgID }) => orgID === 'b').map(({ quota }) => quota.used));
        for (const { orgID, definition: limits, quota } of page) {
          const isBig = orgID === 'b';
          expect(limits).toStrictEqual(isBig ? definition : {});
          expect(quota.renews).toBe(isBig ? renews : undefined);
        }
        await store.update(hashOf(7), (found) => anUpdate(found));
      }
      expect(read.filter((orgID) => orgID !== 'b').sort()).toStrictEqual(small.map(({ orgID }) => orgID).sort());
      expect(used.sort((a, b) => Number(a - b))).toStrictEqual(big.map((_, index) => BigInt(index)));
    });

    it('C-06 keeps an existing key when it is added again, and reports that for each', async () => {
      const first = aKey(1, { orgID: 'first' });
      await store.add([aChange(first)]);
      const again = [aKey(2), aKey(1, { orgID: 'second' }), aKey(2, { orgID: 'twice' })];
      expect(await store.add(again.map(aChange))).toStrictEqual([true, false, false]);
      expect((await store.find(hashOf(1)))?.orgID).toBe('first');
      expect((await store.find(hashOf(2)))?.orgID).toBe('acme');
      expect(await store.historyOf(hashOf(1))).toHaveLength(1);
      expect(await store.historyOf(hashOf(2))).toHaveLength(1);
    });

    it('adds none of several keys when one of them cannot be written', async () => {
      const bad = aKey(2, { lastUpdated: maxInt64 + 1n });
      await expect(store.add([aKey(1), bad, aKey(3)].map(aChange))).rejects.toThrow();
      expect(await everything(store)).toStrictEqual([]);
      expect(await store.historyOf(hashOf(1))).toStrictEqual([]);
    });

    it('accepts an empty list of keys to add', async () => {
      expect(await store.add([])).toStrictEqual([]);
    });

    it('passes the stored key to the change, and returns and stores its result', async () => {
      await store.add([aChange(full)]);
      const handed: (StoredKey | undefined)[] = [];
      const next: Partial<StoredKey> = {
        definition: { alias: 'after' },
        secrets: { passwordHash: undefined, jwtSecret: undefined, hmacString: Uint8Array.of(9) },
        quota: { used: 5n, renews: undefined },
        sealedKeyID: Uint8Array.of(4),
        lastUpdated: minInt64,
        version: 3,
      };
      const change = await store.update(full.keyHash, (found) => {
        handed.push(plain(found));
        return anUpdate(found, next);
      });
      expect(handed).toStrictEqual([full]);
      expect(plain(change?.next)).toStrictEqual({ ...full, ...next });
      await reopen();
      expect(plain(await store.find(full.keyHash))).toStrictEqual({ ...full, ...next });
    });

    it('passes undefined to the change for a key that does not exist, and writes nothing when it throws', async () => {
      const handed: unknown[] = [];
      const reject = (found: StoredKey | undefined): KeyTransition => {
        handed.push(found);
        throw new Error('There is no such key.');
      };
      await expect(store.update(hashOf(1), reject)).rejects.toThrow('There is no such key.');
      expect(handed).toStrictEqual([undefined]);
      expect(await everything(store)).toStrictEqual([]);
    });

    it('C-03 writes neither key nor history entry when the change throws, and rejects with its error', async () => {
      await store.add([aChange(full)]);
      const audit = await store.historyOf(full.keyHash);
      const thrown = new TypeError('from within');
      const attempt = store.update(full.keyHash, () => {
        throw thrown;
      });
      await expect(attempt).rejects.toBe(thrown);
      expect(plain(await store.find(full.keyHash))).toStrictEqual(full);
      expect(await store.historyOf(full.keyHash)).toStrictEqual(audit);
      await store.update(full.keyHash, (found) => anUpdate(found, { version: 2 }));
    });

    it('C-03 O-04 writes no key when the history entry cannot be written', async () => {
      await store.add([aChange(aKey(1))]);
      const attempt = store.update(hashOf(1), (found) => {
        const { next } = anUpdate(found);
        return { next, revision: aRevision(next, { quotaUsedBeforeReset: maxInt64 + 1n }) };
      });
      await expect(attempt).rejects.toThrow();
      expect(plain(await store.find(hashOf(1)))).toStrictEqual(aKey(1));
      expect(await store.historyOf(hashOf(1))).toHaveLength(1);
    });

    it('stores every change exactly, oldest first', async () => {
      const key = aKey(1);
      const first = aRevision(key);
      await store.add([{ next: key, revision: first }]);
      const second = aRevision(key, {
        at: new Date('2026-01-31T12:00:00.000Z'),
        operation: 'update',
        orgID: 'ácme',
        actor: { credentialID: 'cred_2', label: 'quotes " and 🔑', assertedName: 'Ana "🔑"' },
        reason: 'quotes " and 🔑',
        requestID: '',
        changes: [
          { path: ['accessRights', 'a.b', 'limit', 'quotaMax'], kind: 'CHANGED', before: 1, after: maxInt64 },
          { path: ['hmacString'], kind: 'SET' },
        ],
        versionBefore: 1,
        versionAfter: 2,
        quotaUsedBeforeReset: maxInt64,
      });
      await store.update(key.keyHash, (found) => ({ ...anUpdate(found), revision: second }));
      const third = { ...second, versionBefore: 2, versionAfter: 3, quotaUsedBeforeReset: 0n };
      await store.update(key.keyHash, (found) => ({ ...anUpdate(found), revision: third }));
      await reopen();
      expect(await store.historyOf(key.keyHash)).toStrictEqual([first, second, third]);
    });

    it('stores actors by credential, label and asserted name, also those with control characters', async () => {
      const separator = '\u001f';
      const actors: Actor[] = [
        { credentialID: 'cred_1', label: 'dashboard' },
        { credentialID: 'cred_1', label: 'dashboard', assertedName: 'Ana' },
        { credentialID: 'cred_1', label: 'dashboard', assertedName: 'Ана 🔑' },
        { credentialID: 'cred_2', label: 'dashboard', assertedName: 'Ana' },
        { credentialID: 'cred_1', label: `dashboard${separator}Ana` },
        { credentialID: 'cred_1', label: separator },
        { credentialID: 'cred_1', label: `${separator}${separator}`, assertedName: 'Ana' },
        { credentialID: 'cred_1', label: '', assertedName: 'Ana' },
      ];
      const changes = actors.map((actor, index) => {
        const key = aKey(index + 1);
        return { next: key, revision: aRevision(key, { actor }) };
      });
      await store.add(changes);
      await reopen();
      const found = await Promise.all(changes.map(({ next }) => store.historyOf(next.keyHash)));
      expect(found.map(([revision]) => revision?.actor)).toStrictEqual(actors);
    });

    it('reads a long history in pages, and rejects one that is larger than the budget before reading it', async () => {
      const large = (version: number) => ({
        definition: { alias: `at ${version}`, metaData: { notes: 'x'.repeat(100_000) } },
      });
      await store.add([aChange(aKey(1, large(1)))]);
      for (let version = 2; version <= 9; version += 1)
        await store.update(hashOf(1), (found) => anUpdate(found, large(version)));
      const versions = Array.from({ length: 9 }, (_, index) => index + 1);
      const found = await store.historyOf(hashOf(1), {}, createReadBudget());
      expect(found.map(({ versionAfter }) => versionAfter)).toStrictEqual(versions);
      const reads = createReadBudget(5_000, 500_000);
      await expect(store.historyOf(hashOf(1), {}, reads)).rejects.toMatchObject({ code: 'TOO_LARGE' });
      expect(reads.bytesLeft()).toBe(500_000);
      // The first entry has no definition before it.
      expect(await store.historyOf(hashOf(1), { limit: 3 }, reads)).toHaveLength(3);
      expect(reads.bytesLeft()).toBeLessThan(300_000);
    });

    it('truncates a page at its limit, and rejects one that is larger than the budget', async () => {
      const notes = { metaData: { notes: 'x'.repeat(10_000) } };
      const names = ['a', 'b', 'c', 'd'];
      await store.add(names.map((alias) => aChange(aKey(alias, { definition: { alias, ...notes } }))));
      const query = { filter: {}, orderBy: 'ALIAS', descending: false, limit: 10, now: new Date() } as const;
      const aliases = ({ keys }: KeyPage) => keys.map(({ definition }) => definition.alias);
      const whole = await store.list(query, createReadBudget());
      expect([aliases(whole), whole.isCut]).toStrictEqual([names, false]);
      const cut = await store.list({ ...query, maxBytes: 25_000 }, createReadBudget());
      expect([aliases(cut), cut.isCut]).toStrictEqual([['a', 'b'], true]);
      const one = await store.list({ ...query, maxBytes: 1 }, createReadBudget());
      expect([aliases(one), one.isCut]).toStrictEqual([['a'], true]);
      const reads = createReadBudget(5_000, 25_000);
      const tooLarge = { code: 'TOO_LARGE', message: expect.stringContaining(' 4 keys have ') as string };
      await expect(store.list(query, reads)).rejects.toMatchObject(tooLarge);
      await expect(store.findMany(names.map(hashOf), reads)).rejects.toMatchObject(tooLarge);
      expect(reads.bytesLeft()).toBe(25_000);
    });

    it('reads a history as of the version that was read, and not as of later ones', async () => {
      await store.add([aChange(aKey(1))]);
      await store.update(hashOf(1), (found) => anUpdate(found));
      const read = await store.find(hashOf(1));
      for (let count = 0; count < 3; count += 1) await store.update(hashOf(1), (found) => anUpdate(found));
      const versions = async (range: HistoryRange) =>
        (await store.historyOf(hashOf(1), { ...range, asOf: read })).map(({ versionAfter }) => versionAfter);
      expect(await versions({})).toStrictEqual([1, 2]);
      expect(await versions({ last: true, limit: 1 })).toStrictEqual([2]);
      expect(await versions({ last: true, limit: 1, before: 4 })).toStrictEqual([2]);
      expect(await versions({ after: 1, limit: 10 })).toStrictEqual([2]);
      expect(await versions({ after: 2 })).toStrictEqual([]);
      expect(await store.historyOf(hashOf(1))).toHaveLength(5);
    });

    it('writes a receipt with its change, and rejects a change whose receipt exists, with all that belongs to it', async () => {
      const receipt = (id: string, ms = 0) => ({ id, at: new Date(ms), sealed: Uint8Array.of(1, 2, 255) });
      await store.add([aChange(aKey(1)), aChange(aKey(2))]);
      const updated = (found: StoredKey | undefined, id: string) => ({ ...anUpdate(found), receipt: receipt(id) });
      await store.update(hashOf(1), (found) => updated(found, 'a'));
      expect(await store.findReceipt('a')).toMatchObject({ id: 'a', at: new Date(0) });
      expect([...((await store.findReceipt('a'))?.sealed ?? [])]).toStrictEqual([1, 2, 255]);
      expect(await store.findReceipt('b')).toBeUndefined();
      // All at once: changes of other keys, and another change of the same key, are not affected.
      const results = await Promise.allSettled([
        store.update(hashOf(1), (found) => updated(found, 'a')),
        store.update(hashOf(1), (found) => updated(found, 'b')),
        store.update(hashOf(2), (found) => anUpdate(found)),
        store.update(hashOf(3), () => ({ ...aChange(aKey(3)), receipt: receipt('b') })),
      ]);
      const isWritten = results.map(({ status }) => status === 'fulfilled');
      expect([isWritten[0], isWritten[2]]).toStrictEqual([false, true]);
      expect(isWritten.filter(Boolean)).toHaveLength(2);
      const versions = await Promise.all([1, 2, 3].map(async (name) => (await store.find(hashOf(name)))?.version));
      expect(versions).toStrictEqual([isWritten[1] ? 3 : 2, 2, isWritten[3] ? 1 : undefined]);
      expect(await store.historyOf(hashOf(1))).toHaveLength(versions[0] ?? 0);
    });

    it('writes a receipt with a consumption, and by itself, and purges old ones', async () => {
      const receipt = (id: string, ms: number) => ({ id, at: new Date(ms), sealed: Uint8Array.of(1) });
      await store.add([aChange(aKey(1))]);
      const used = (id: string) =>
        store.consume(hashOf(1), (found) => ({
          next: { used: (found?.quota.used ?? 0n) + 1n, renews: undefined },
          result: id,
          receipt: receipt(id, 5),
        }));
      const before = (await store.find(hashOf(1)))?.quota.used ?? 0n;
      await used('a');
      await expect(used('a')).rejects.toThrow();
      expect((await store.find(hashOf(1)))?.quota.used).toBe(before + 1n);
      await store.addReceipt(receipt('b', 9));
      await expect(store.addReceipt(receipt('b', 9))).rejects.toThrow();
      // Removes no other receipt, and none that is newer.
      for (const [id, ms] of [
        ['a', 4],
        ['c', 9],
      ] as const)
        await store.removeReceipt(id, new Date(ms));
      expect([(await store.findReceipt('a'))?.at, (await store.findReceipt('b'))?.at].map(Number)).toStrictEqual([
        5, 9,
      ]);
      await store.removeReceipt('a', new Date(5));
      expect(await store.findReceipt('a')).toBeUndefined();
      await used('a');
      expect(await store.purgeReceipts(new Date(4))).toBe(0);
      // More than one statement removes.
      await Promise.all(Array.from({ length: 201 }, (_, index) => store.addReceipt(receipt(`old ${index}`, 4))));
      const ids: string[] = [];
      for await (const page of store.allReceipts()) ids.push(...page.map(({ id }) => id));
      expect([ids.length, new Set(ids).size]).toStrictEqual([203, 203]);
      expect(await store.purgeReceipts(new Date(5))).toBe(202);
      expect([await store.findReceipt('a'), (await store.findReceipt('b'))?.at]).toStrictEqual([
        undefined,
        new Date(9),
      ]);
    });

    it('reads ranges of many histories together, as it reads each alone', async () => {
      const large = { definition: { metaData: { notes: 'x'.repeat(200_000) } } };
      await store.add([aChange(aKey(1)), aChange(aKey(2)), aChange(aKey(3, large))]);
      for (let count = 0; count < 4; count += 1) {
        await store.update(hashOf(1), (found) => anUpdate(found));
        await store.update(hashOf(3), (found) => anUpdate(found, large));
      }
      const keys = (await store.findMany([1, 2, 3].map(hashOf))).toSorted((a, b) => (a.keyHash < b.keyHash ? -1 : 1));
      await store.update(hashOf(1), (found) => anUpdate(found));
      const ranges: HistoryRange[] = [
        {},
        { last: true, limit: 2 },
        { after: 1, before: 4 },
        { after: 9 },
        { limit: 1 },
      ];
      const requests = keys.flatMap((key) => ranges.map((range) => ({ key, range })));
      const alone = await Promise.all(
        requests.map(({ key, range }) => store.historyOf(key.keyHash, { ...range, asOf: key })),
      );
      expect(alone.flat()).toHaveLength(23);
      expect(await store.historiesOf(requests)).toStrictEqual(alone);
      const reads = createReadBudget();
      const before = reads.bytesLeft();
      expect(await store.historiesOf(requests, reads)).toStrictEqual(alone);
      expect(before - reads.bytesLeft()).toBeGreaterThan(8 * 200_000);
      expect(await store.historiesOf([])).toStrictEqual([]);
    });

    it('reads the other histories if one is of a key that was purged, or above the budget', async () => {
      const notes = { definition: { metaData: { notes: 'x'.repeat(50_000) } } };
      await store.add([aChange(aKey(1)), aChange(aKey(2, { deleted: new Date(0) })), aChange(aKey(3, notes))]);
      await store.update(hashOf(3), (found) => anUpdate(found));
      const keys = await Promise.all([1, 2, 3].map(async (name) => store.find(hashOf(name))));
      const requests = keys.flatMap((key) => (key ? [{ key, range: {} }] : []));
      await store.purge(new Date(1));
      const found = await store.historiesOf(requests, createReadBudget(5_000, 20_000));
      expect(found).toMatchObject([[{ keyHash: hashOf(1) }], { code: 'NOT_FOUND' }, { code: 'TOO_LARGE' }]);
      expect(found[2]).toMatchObject({ message: expect.stringContaining(' 2 history entries have ') as string });
    });

    it('lists and counts the keys of many organizations together, as it does those of each alone', async () => {
      const orgs = ['acme', 'globex', 'none', 'a"b', 'acme', 'nul\0'];
      const names = Array.from({ length: 12 }, (_, index) => index);
      await store.add(
        names.map((name) =>
          aChange(
            aKey(name, {
              orgID: ['acme', 'globex', 'a"b'][name % 3] ?? '',
              definition: { alias: `Key ${name % 5}`, tags: name % 2 ? ['odd'] : [] },
              lastUpdated: BigInt(name % 4),
            }),
          ),
        ),
      );
      const now = new Date('2026-01-31T12:00:00Z');
      for (const orderBy of Object.keys(keyOrders) as KeyOrder[]) {
        for (const filter of [
          {},
          { tagsAll: ['odd'] },
          { aliasPrefix: 'Key 1' },
          { aliasContains: 'Y 1' },
          { updatedSince: 2n },
        ]) {
          const query = { filter, orderBy, descending: orderBy === 'ALIAS', limit: 3, now };
          const alone = orgs.map((orgID) => store.list({ ...query, filter: { ...filter, orgID } }));
          expect(await store.listOfOrgs(orgs, query, createReadBudget())).toStrictEqual(await Promise.all(alone));
          const counts = orgs.map((orgID) => store.count({ ...filter, orgID }, now));
          expect(await store.countOfOrgs(orgs, filter, now, createReadBudget())).toStrictEqual(
            await Promise.all(counts),
          );
        }
      }
      expect(await store.countOfOrgs(orgs, {}, now)).toStrictEqual([4, 4, 0, 4, 4, 0]);
      const query = { filter: {}, orderBy: 'KEY_HASH', descending: false, limit: 3, now } as const;
      const none = { keys: [], isCut: false };
      expect(await store.listOfOrgs(['nul\0', '\0'], query)).toStrictEqual([none, none]);
      expect(await store.listOfOrgs([], query)).toStrictEqual([]);
      expect(await store.countOfOrgs([], {}, now)).toStrictEqual([]);
    });

    it('lists the organizations that own keys and the tags of one, in byte order and between any two names', async () => {
      const names = ['B', 'a', 'acme', 'b', 'é', '\u{1f600}'];
      const tags = ['!', ';', 'T', 'é', 't', '\u{1f600}'];
      await store.add([
        ...names.map((orgID, index) => aChange(aKey(index, { orgID, definition: { tags: [tags[index] ?? ''] } }))),
        aChange(aKey('many', { orgID: 'acme', definition: { tags, applyPolicies: ['p'] } })),
        aChange(aKey('gone', { orgID: 'gone', deleted: new Date(0), definition: { tags: ['gone'] } })),
        aChange(aKey('gone of acme', { orgID: 'acme', deleted: new Date(0), definition: { tags: ['gone'] } })),
      ]);
      const sorted = (texts: readonly string[]) =>
        texts.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      const lists = [
        [sorted(names), (query: NameQuery) => store.organizations(query, createReadBudget())],
        [
          sorted(tags),
          async (query: NameQuery) => (await store.tagsOfOrgs(['acme'], query, createReadBudget())).flat(),
        ],
      ] as const;
      for (const [all, read] of lists) {
        expect(await read({ descending: false, limit: 100 })).toStrictEqual(all);
        expect(await read({ descending: true, limit: 2 })).toStrictEqual(all.toReversed().slice(0, 2));
        for (const [from, after] of all.entries()) {
          expect(await read({ after, descending: false, limit: 2 })).toStrictEqual(all.slice(from + 1, from + 3));
          expect(await read({ before: after, descending: true, limit: 100 })).toStrictEqual(
            all.slice(0, from).toReversed(),
          );
          expect(await read({ after, before: all.at(-1), descending: false, limit: 100 })).toStrictEqual(
            all.slice(from + 1, -1),
          );
        }
        expect(await read({ after: '\0', before: 'zz\0', descending: false, limit: 0 })).toStrictEqual([]);
      }
      const whole = { descending: false, limit: 9 };
      expect(await store.tagsOfOrgs(['none', 'acme', 'nul\0', 'gone', 'B', 'acme'], whole)).toStrictEqual([
        [],
        sorted(tags),
        [],
        [],
        ['!'],
        sorted(tags),
      ]);
      expect(await store.tagsOfOrgs([], whole)).toStrictEqual([]);
    });

    it('lists and counts the keys that match each filter, in each order and between any two positions', async () => {
      const now = new Date('2026-01-31T12:00:00Z');
      const seconds = BigInt(now.getTime() / 1000);
      const keys = Array.from({ length: 60 }, (_, name) =>
        aKey(name, {
          orgID: name % 2 === 0 ? 'acme' : 'globex',
          lastUpdated: BigInt(name % 5),
          dateCreated: `2026-01-31T12:00:00.${['000', '1', '00099', '123456'][name % 4]}Z`,
          deleted: name % 6 === 0 ? new Date(0) : undefined,
          definition: {
            alias: ['', 'A', 'Ab', 'B'][name % 4] ?? '',
            expires: [0n, 1n, seconds, seconds + 1n, seconds + 100n][name % 5] ?? 0n,
            isInactive: name % 7 === 0,
            tags: name % 4 < 2 ? ['x', 'y'] : ['y'],
            applyPolicies: name % 3 === 0 ? [] : ['x'],
            accessRights: name % 3 === 1 ? [] : [{ label: 'x' }],
          },
        }),
      );
      await store.add(keys.map(aChange));
      const filters: KeyFilter[] = [
        {},
        { orgID: 'acme' },
        { aliasPrefix: 'A' },
        { aliasContains: 'b' },
        { aliasContains: 'B', orgID: 'globex', tagsAll: ['y'] },
        { aliasContains: 'b', aliasPrefix: 'A', states: ['ACTIVE', 'DELETED'] },
        { tagsAll: ['x'] },
        { policy: 'x' },
        { apiID: 'x' },
        { tagsAll: ['x'], policy: 'x' },
        { tagsAll: ['y'], policy: 'x', apiID: 'x', orgID: 'globex' },
        { expiresBefore: seconds + 1n },
        { updatedSince: 3n },
        { orgID: 'globex', aliasPrefix: 'A', updatedSince: 2n },
        ...(Object.keys(keyStates) as KeyState[]).map((state) => ({ states: [state] })),
        { states: ['INACTIVE', 'DELETED'] },
        { tagsAny: ['x', 'y'] },
        { tagsAny: ['y', 'none'], orgID: 'globex' },
        { tagsAll: ['x', 'y'] },
        { keyHashes: [hashOf(1), hashOf(4), hashOf('none'), 'no hash', ''] },
        { identifierHashes: [hashOf(1), hashOf(4), hashOf('none'), 'no hash', ''] },
      ];
      const compare = (a: KeyPosition, b: KeyPosition) =>
        a.value === b.value ? (a.keyHash < b.keyHash ? -1 : 1) : a.value < b.value ? -1 : 1;
      for (const filter of filters) {
        const matching = keys.filter((key) =>
          matchesFilter({ filter, orderBy: 'KEY_HASH', descending: false, limit: 1, now }, key),
        );
        expect(matching).not.toEqual([]);
        expect(await store.count(filter, now)).toBe(matching.length);
        for (const orderBy of Object.keys(keyOrders) as KeyOrder[]) {
          for (const descending of [false, true]) {
            const query: KeyQuery = { filter, orderBy, descending, limit: 100, now };
            const ascending = matching.map((key) => positionOf(key, orderBy)).toSorted(compare);
            const positions = descending ? ascending.toReversed() : ascending;
            const hashes = positions.map(({ keyHash }) => keyHash);
            const listed = async (changes: Partial<KeyQuery>) =>
              (await store.list({ ...query, ...changes })).keys.map(({ keyHash }) => keyHash);
            expect(await listed({}), `${Object.keys(filter).join()} by ${orderBy}`).toStrictEqual(hashes);
            const last = hashes.length - 1;
            const [after, before] = [positions[1], positions[last]];
            expect(await listed({ after, limit: 1 })).toStrictEqual(hashes.slice(2, 3));
            expect(await listed({ before })).toStrictEqual(hashes.slice(0, last));
            expect(await listed({ after, before })).toStrictEqual(hashes.slice(2, last));
          }
        }
      }
    });

    it('finds the keys whose alias contains a text, in upper or lower case, whatever characters it has', async () => {
      const now = new Date('2026-01-31T12:00:00Z');
      const aliases = [
        ...[
          'Müller & Söhne',
          'MÜLLER',
          'muller',
          'Straße',
          'Ωmega',
          'ДОМ',
          '100% [a-z]',
          '100 percent',
          'a_b',
          'a.b',
          'a\\b',
        ],
        ...['^a$', '***:x', '(?i)x', '{2}', "o'key", 'line\nend', '🔑 Key', '日本語', ' pad ', '', 'x'.repeat(256)],
      ];
      await store.add(aliases.map((alias, index) => aChange(aKey(index, { definition: { alias } }))));
      const expected: [string, string[]][] = [
        ['müller', ['Müller & Söhne', 'MÜLLER']],
        ['ÜLLER', ['Müller & Söhne', 'MÜLLER']],
        ['SÖHNE', ['Müller & Söhne']],
        ['ß', ['Straße']],
        ['SS', []],
        ['ω', ['Ωmega']],
        ['дом', ['ДОМ']],
        ['%', ['100% [a-z]']],
        ['_', ['a_b']],
        ['.', ['a.b']],
        ['a.b', ['a.b']],
        ['\\', ['a\\b']],
        ['[A-Z]', ['100% [a-z]']],
        ['^', ['^a$']],
        ['$', ['^a$']],
        ['***:', ['***:x']],
        ['(?I)', ['(?i)x']],
        ['{2}', ['{2}']],
        ["'", ["o'key"]],
        ['E\nE', ['line\nend']],
        ['🔑 k', ['🔑 Key']],
        ['本', ['日本語']],
        [' pad ', [' pad ']],
        ['x'.repeat(256), ['x'.repeat(256)]],
        ['nul\0', []],
        ['none', []],
        ['', aliases],
      ];
      for (const [aliasContains, found] of expected) {
        for (const orderBy of Object.keys(keyOrders) as KeyOrder[]) {
          const query = { filter: { aliasContains }, orderBy, descending: false, limit: 100, now };
          const { keys } = await store.list(query);
          const listed = keys.map(({ definition }) => definition.alias ?? '');
          expect([aliasContains, orderBy, listed.toSorted()]).toStrictEqual([aliasContains, orderBy, found.toSorted()]);
        }
        expect([aliasContains, await store.count({ aliasContains }, now)]).toStrictEqual([aliasContains, found.length]);
      }
    });

    it('finds a key by its present alias after each kind of write', async () => {
      const now = new Date('2026-01-31T12:00:00Z');
      const found = async (aliasContains: string, states?: readonly KeyState[]) => {
        const query = {
          filter: { aliasContains, states },
          orderBy: 'KEY_HASH',
          descending: false,
          limit: 9,
          now,
        } as const;
        return (await store.list(query)).keys.map(({ keyHash }) => keyHash);
      };
      const keyHash = hashOf('written');
      const change = (changes: Partial<StoredKey>) => store.update(keyHash, (key) => anUpdate(key, changes));
      await store.add([aChange(aKey('written', { definition: { alias: 'First' } }))]);
      expect(await found('first')).toStrictEqual([keyHash]);
      await change({ definition: { alias: 'Second' } });
      expect([await found('first'), await found('second')]).toStrictEqual([[], [keyHash]]);
      await change({ definition: {} });
      expect(await found('second')).toStrictEqual([]);
      await change({ definition: { alias: 'Third' }, deleted: new Date(0) });
      expect([await found('third'), await found('third', ['DELETED'])]).toStrictEqual([[], [keyHash]]);
      await store.purge(new Date(1));
      expect(await found('third', ['DELETED'])).toStrictEqual([]);
    });

    it('keeps keys separate whose hashes begin with the same 60 bits, up to eight of them', async () => {
      const start = hashOf('near').slice(0, 15);
      const hashes = Array.from({ length: 9 }, (_, index) => `${start}${index}${'0'.repeat(48)}`);
      const keyOf = (keyHash: string) => aKey(keyHash, { keyHash, definition: { tags: ['near'] } });
      for (const keyHash of hashes.slice(0, 8)) await store.update(keyHash, () => aChange(keyOf(keyHash)));
      for (const keyHash of hashes.slice(0, 8)) await store.update(keyHash, (found) => anUpdate(found));
      await expect(store.update(hashes[8] ?? '', () => aChange(keyOf(hashes[8] ?? '')))).rejects.toThrow();
      for (const keyHash of hashes.slice(0, 8)) {
        expect(await store.find(keyHash)).toMatchObject({ keyHash, version: 2 });
        expect(await store.historyOf(keyHash)).toMatchObject([{ keyHash }, { keyHash }]);
      }
      expect(await store.find(hashes[8] ?? '')).toBeUndefined();
      expect(await store.findMany(hashes)).toHaveLength(8);
      const found: string[] = [];
      for (let after: KeyPosition | undefined, isEnd = false; !isEnd;) {
        const { keys } = await store.list({
          ...{
            filter: { tagsAll: ['near'] },
            orderBy: 'KEY_HASH',
            descending: false,
            limit: 3,
            now: new Date(),
            after,
          },
        });
        found.push(...keys.map(({ keyHash }) => keyHash));
        const last = keys.at(-1);
        after = last && { value: '', keyHash: last.keyHash };
        isEnd = keys.length < 3;
      }
      expect(found).toStrictEqual(hashes.slice(0, 8));
    });

    it('rejects reading the history of a key that was purged meanwhile, also when it was created again', async () => {
      const gone = aKey(1, { deleted: new Date(0) });
      const read = { identity: gone.identity, version: 1 };
      await store.add([aChange(gone)]);
      expect(await store.historyOf(hashOf(1), { asOf: read })).toHaveLength(1);
      expect(await store.purge(new Date(1))).toBe(1);
      await expect(store.historyOf(hashOf(1), { asOf: read })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await store.add([aChange(aKey(1, { identity: 'b'.repeat(32) }))]);
      await store.update(hashOf(1), (found) => anUpdate(found));
      await expect(store.historyOf(hashOf(1), { asOf: read })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(await store.historyOf(hashOf(1))).toHaveLength(2);
    });

    it('writes a quota change with the change of its key, returns it in order, and removes it when it is acknowledged', async () => {
      const changeAt = (keyHash: string, seconds: number, isReset: boolean): QuotaChange => ({
        keyHash,
        identity: 'a'.repeat(32),
        lastUpdated: maxInt64 - 10n + BigInt(seconds),
        at: new Date(seconds * 1000),
        isReset,
        periodBefore: 0n,
        periodAfter: maxInt64,
      });
      await store.add([aKey(1), aKey(2, { deleted: new Date(0) })].map(aChange));
      const changes = [changeAt(hashOf(1), 1, true), changeAt(hashOf(1), 2, false), changeAt(hashOf(2), 3, true)];
      for (const quotaChange of changes) {
        await store.update(quotaChange.keyHash, (found) => ({ ...anUpdate(found), quotaChange }));
      }
      await expect(
        store.update(hashOf(1), (found) => ({
          ...anUpdate(found, { lastUpdated: maxInt64 + 1n }),
          quotaChange: changeAt(hashOf(1), 4, true),
        })),
      ).rejects.toThrow();
      await reopen();
      expect(await store.pendingFor(hashOf(1))).toStrictEqual(changes.slice(0, 2));
      expect(await store.pendingFor(hashOf(3))).toStrictEqual([]);
      expect(await store.countPending()).toBe(3);
      expect(await allOf(store.pendingBefore(new Date(2000)))).toStrictEqual(changes.slice(0, 1));
      expect(await allOf(store.pendingBefore(new Date(9000)))).toStrictEqual(changes);
      await store.acknowledge(changes.slice(0, 1));
      expect(await allOf(store.pendingBefore(new Date(9000)))).toStrictEqual(changes.slice(1));
      // What belongs to a key goes with it.
      expect(await store.purge(new Date(1))).toBe(1);
      expect(await allOf(store.pendingBefore(new Date(9000)))).toStrictEqual(changes.slice(1, 2));
    });

    it('returns no quota change that fails its integrity check, and returns the others', async () => {
      await store.add([aKey(1), aKey(2)].map(aChange));
      for (const [index, name] of [1, 2].entries()) {
        const quotaChange = {
          ...{ keyHash: hashOf(name), identity: 'a'.repeat(32), lastUpdated: 1n, at: new Date(index) },
          ...{ isReset: false, periodBefore: 1n, periodAfter: 2n },
        };
        await store.update(hashOf(name), (found) => ({ ...anUpdate(found), quotaChange }));
      }
      await place.tamper(`UPDATE quota_changes SET is_reset = 1 WHERE id = (SELECT min(id) FROM quota_changes)`);
      await expect(store.pendingFor(hashOf(1))).rejects.toMatchObject({ code: 'INTERNAL' });
      const others: QuotaChange[] = [];
      const reading = (async () => {
        for await (const page of store.pendingBefore(new Date(9000))) others.push(...page);
      })();
      await expect(reading).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(others.map(({ keyHash }) => keyHash)).toStrictEqual([hashOf(2)]);
    });

    it('undoes a change of a group whose history entry cannot be written, and commits the others', async () => {
      const names = Array.from({ length: 12 }, (_, index) => index);
      await store.add(names.map((name) => aChange(aKey(name, { definition: { tags: ['old'] } }))));
      const changed = { definition: { tags: ['new'] } };
      const failing = 5;
      // All start in one turn of the event loop, so that they are written as one group.
      const outcomes = await Promise.allSettled([
        ...names.map((name) =>
          store.update(hashOf(name), (found) => {
            const change = anUpdate(found, changed);
            // The history has an entry of this version already, which is found out after the key itself is written.
            return name === failing ? { ...change, revision: aRevision(aKey(name)) } : change;
          }),
        ),
        store.update(hashOf(failing), (found) => anUpdate(found, { definition: { tags: ['later'] } })),
      ]);
      expect(outcomes.map(({ status }) => status === 'rejected')).toStrictEqual([
        ...names.map((name) => name === failing),
        false,
      ]);
      await reopen();
      for (const name of names) {
        const tags = name === failing ? ['later'] : ['new'];
        const key = aKey(name, { version: 2, definition: { tags } });
        expect(plain(await store.find(hashOf(name)))).toStrictEqual(key);
        expect((await store.historyOf(hashOf(name))).map(({ versionAfter }) => versionAfter)).toStrictEqual([1, 2]);
      }
      const now = new Date(0);
      const counts = ['old', 'new', 'later'].map((tag) => store.count({ tagsAll: [tag] }, now));
      expect(await Promise.all(counts)).toStrictEqual([0, 11, 1]);
      expect(await damagesIn(store)).toStrictEqual([]);
    });

    it('returns the requested part of a history, oldest first, and the definition at each version', async () => {
      const aliasOf = (version: number) => ({ definition: { alias: `at ${version}`, quotaMax: maxInt64 } });
      await store.add([aKey(1, aliasOf(1)), aKey(2)].map(aChange));
      for (let version = 2; version <= 7; version += 1) {
        await store.update(hashOf(1), (found) => anUpdate(found, aliasOf(version)));
      }
      const versions = async (range: Parameters<KeyStore['historyOf']>[1]) =>
        (await store.historyOf(hashOf(1), range)).map(({ versionAfter }) => versionAfter);
      expect(await versions({})).toStrictEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(await versions({ after: 2, before: 6 })).toStrictEqual([3, 4, 5]);
      expect(await versions({ after: 2, limit: 2 })).toStrictEqual([3, 4]);
      expect(await versions({ last: true, limit: 2 })).toStrictEqual([6, 7]);
      expect(await versions({ last: true, after: 1, before: 5, limit: 2 })).toStrictEqual([3, 4]);
      expect(await versions({ limit: 0 })).toStrictEqual([]);
      expect(await versions({ after: 7 })).toStrictEqual([]);
      await reopen();
      for (const version of [1, 4, 7]) {
        expect(await store.definitionAt(hashOf(1), version)).toStrictEqual(aliasOf(version).definition);
      }
      for (const version of [0, 8, -1]) expect(await store.definitionAt(hashOf(1), version)).toBeUndefined();
      expect(await store.definitionAt(hashOf('unknown'), 1)).toBeUndefined();
    });

    it('purges keys that were deleted before the given time with their history and terms, and no others', async () => {
      const moment = new Date('2026-01-31T12:00:00.000Z');
      const deletedAt = (name: string, milliseconds: number) =>
        aKey(name, { definition: { tags: ['t'] }, deleted: new Date(moment.getTime() + milliseconds) });
      const old = Array.from({ length: 501 }, (_, index) => deletedAt(`old ${index}`, -1 - index));
      const kept = [deletedAt('then', 0), deletedAt('later', 1), aKey('living', { definition: { tags: ['t'] } })];
      await store.add([...old, ...kept].map(aChange));
      expect(await store.purge(moment)).toBe(501);
      expect(await store.purge(moment)).toBe(0);
      expect((await everything(store)).map(({ keyHash }) => keyHash)).toStrictEqual(
        kept.map(({ keyHash }) => keyHash).sort(),
      );
      expect(await store.historyOf(hashOf('old 0'))).toStrictEqual([]);
      const tagged = {
        filter: { tagsAll: ['t'] },
        orderBy: 'KEY_HASH',
        descending: false,
        limit: 1000,
        now: moment,
      } as const;
      expect((await store.list(tagged)).keys).toHaveLength(1);
      expect(await store.count({ tagsAll: ['t'], states: ['DELETED'] }, moment)).toBe(2);
      // Its tags are free again, too.
      expect(await store.add([aChange(aKey('old 0', { definition: { tags: ['t'] } }))])).toStrictEqual([true]);
      expect((await store.list(tagged)).keys).toHaveLength(2);
    });

    it('finds no damage in a history of more than a hundred entries, and a change of any of them', async () => {
      await store.add([aChange(aKey(1))]);
      await Promise.all(Array.from({ length: 204 }, () => store.update(hashOf(1), (found) => anUpdate(found))));
      const reports = () => collect(store.verifyIntegrity());
      expect(await reports()).toMatchObject([{ keyHash: hashOf(1), exists: true, isHistoryIntact: true }]);
      await place.tamper('DELETE FROM history WHERE version = 103');
      expect(await reports()).toMatchObject([{ keyHash: hashOf(1), exists: true, isHistoryIntact: false }]);
    });

    it('finds no damage in its own rows', async () => {
      await store.add([full, aKey(1), aKey(2)].map(aChange));
      await store.update(hashOf(1), (found) => anUpdate(found, { definition: full.definition }));
      await store.reseal(full.keyHash, (stored) => ({ ...stored, sealedKeyID: Uint8Array.of(42) }));
      expect(await collect(store.verifyIntegrity())).toHaveLength(3);
      expect(await damagesIn(store)).toStrictEqual([]);
    });

    it('runs concurrent updates one after the other, and loses none', async () => {
      await store.add([aChange(aKey(1))]);
      const second = await place.open();
      const stores = [store, second.store];
      const versions = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const one = stores[index % 2] ?? store;
          return (await one.update(hashOf(1), (found) => anUpdate(found)))?.next.version;
        }),
      );
      expect(versions.sort((a = 0, b = 0) => a - b)).toStrictEqual(Array.from({ length: 40 }, (_, index) => index + 2));
      const audit = await store.historyOf(hashOf(1));
      expect(audit.map(({ versionAfter }) => versionAfter)).toStrictEqual(
        Array.from({ length: 41 }, (_, index) => index + 1),
      );
      await second.close();
    });

    it('counts the concurrent consumption of two processes, and loses none', async () => {
      await store.add([aChange(aKey(1))]);
      const second = await place.open();
      // Two equal changes of the same row would have the same signature, which the database rejects.
      const count = (counters: KeyStore, amount: bigint) =>
        counters.consume(hashOf(1), (found) => {
          const used = (found?.quota.used ?? 0n) + amount;
          return { next: { used, renews: undefined }, result: used };
        });
      await Promise.all(Array.from({ length: 20 }, () => [count(store, 1n), count(second.store, 1_000n)]).flat());
      expect((await store.find(hashOf(1)))?.quota.used).toBe(20_020n);
      await second.close();
    });

    it('shows at once what another process wrote', async () => {
      const second = await place.open();
      await second.store.add([aChange(aKey(1))]);
      for (const one of [store, second.store]) expect((await one.find(hashOf(1)))?.version).toBe(1);
      await store.update(hashOf(1), (found) => anUpdate(found));
      expect((await second.store.find(hashOf(1)))?.version).toBe(2);
      await second.close();
    });

    it('seals again without a version and without a history entry', async () => {
      await store.add([aChange(full)]);
      const audit = await store.historyOf(full.keyHash);
      await store.reseal(full.keyHash, (stored) => ({ ...stored, sealedKeyID: Uint8Array.of(42) }));
      expect(plain(await store.find(full.keyHash))).toStrictEqual({ ...full, sealedKeyID: Uint8Array.of(42) });
      expect(await store.historyOf(full.keyHash)).toStrictEqual(audit);
    });

    it('seals nothing again for an unknown key, or when the change throws', async () => {
      await store.add([aChange(full)]);
      await store.reseal(hashOf('unknown'), () => {
        throw new Error('must not be called');
      });
      const rejected = store.reseal(full.keyHash, () => {
        throw new Error('no');
      });
      await expect(rejected).rejects.toThrow('no');
      expect(plain(await store.find(full.keyHash))).toStrictEqual(full);
      expect(await everything(store)).toHaveLength(1);
    });

    it.each([0, 1, 499, 500, 501, 1000, 1203])('returns all of %i keys, once each, ordered by hash', async (count) => {
      const keys = Array.from({ length: count }, (_, index) => aKey(index));
      await store.add(keys.map(aChange));
      const hashes = (await everything(store)).map(({ keyHash }) => keyHash);
      expect(hashes).toStrictEqual(keys.map(({ keyHash }) => keyHash).sort());
    });

    it('accepts writes while all keys are read, and still returns each earlier key once', async () => {
      const keys = Array.from({ length: 1100 }, (_, index) => aKey(index));
      await store.add(keys.map(aChange));
      const hashes: string[] = [];
      for await (const { keyHash } of store.all()) {
        if (hashes.length % 300 === 0) await store.update(keyHash, (found) => anUpdate(found));
        hashes.push(keyHash);
      }
      expect(hashes).toStrictEqual(keys.map(({ keyHash }) => keyHash).sort());
    });

    it('returns a damaged key by its hash alone, and continues', async () => {
      await store.add([1, 2, 3].map((index) => aChange(aKey(index))));
      await place.tamper(forged(2, 3));
      const found = (await collect(store.all())).map(({ keyHash, key }) => [keyHash, key !== undefined] as const);
      expect(new Map(found)).toStrictEqual(new Map([1, 2, 3].map((index) => [hashOf(index), index !== 2])));
    });

    it('discards a damaged key with all its rows, so that its hash can be used again', async () => {
      await store.add([1, 2].map((index) => aChange(aKey(index))));
      await place.tamper(forged(1, 2));
      await expect(store.add([aChange(aKey(1))])).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await store.discard(hashOf(1))).toBe('discarded');
      expect(await store.find(hashOf(1))).toBeUndefined();
      expect(await store.discard(hashOf(1))).toBe('absent');
      expect(await store.add([aChange(aKey(1))])).toStrictEqual([true]);
      expect(await damagesIn(store)).toStrictEqual([]);
    });

    it('discards the history of a key whose row is missing', async () => {
      await store.add([aChange(aKey(1))]);
      await place.tamper(`DELETE FROM keys WHERE id = ${rowIDOf(hashOf(1))}`);
      await expect(store.find(hashOf(1))).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await collect(store.verifyIntegrity())).toStrictEqual([
        { keyHash: hashOf(1), exists: false, key: undefined, isHistoryIntact: false, isIndexed: true },
      ]);
      expect(await store.discard(hashOf(1))).toBe('discarded');
      expect(await store.find(hashOf(1))).toBeUndefined();
    });

    it('does not discard an intact key', async () => {
      await store.add([aChange(aKey(1))]);
      expect(await store.discard(hashOf(1))).toBe('intact');
      expect((await store.find(hashOf(1)))?.version).toBe(1);
    });

    it('stops reading when its reader stops', async () => {
      await store.add(Array.from({ length: 600 }, (_, index) => aChange(aKey(index))));
      for await (const { keyHash } of store.all()) {
        expect(keyHash).toBeDefined();
        break;
      }
      await store.update(hashOf(1), (found) => anUpdate(found));
    });
  });
}
