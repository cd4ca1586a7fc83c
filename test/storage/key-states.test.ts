import { beforeEach, expect, it } from 'vitest';
import type { KeyHead } from '../../src/storage/records/checkpoint.js';
import type { Storage } from '../../src/storage/storage.js';
import { collect } from '../support/collect.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { aChange, aKey, anUpdate, hashOf, rowIDOf } from '../support/factories.js';
import { openOwnStorage } from '../support/storage.js';

const renews = 1_000n;

describeEngines('the state of a key', (engine) => {
  let place: EnginePlace;
  let storage: Storage;
  let store: Storage['store'];
  /** The state of a key with a quota that renews, after a first update. */
  let head: KeyHead;
  beforeEach(async () => {
    place = await makeOwnPlace(engine);
    storage = await openOwnStorage(place);
    ({ store } = storage);
    await store.add([aChange(aKey(1, { quota: { used: 5n, renews } })), aChange(aKey(2))]);
    await store.update(hashOf(1), (found) => anUpdate(found));
    head = await headOf(1);
  });

  const states = () => collect(storage.checkpoints.states());
  const headOf = async (name: number): Promise<KeyHead> => {
    const found = (await states()).find(({ keyHash }) => keyHash === hashOf(name));
    if (!found) throw new Error('The key of the test is not there.');
    return found;
  };
  const compare = (changes: Partial<KeyHead> = {}) => storage.checkpoints.compare([{ ...head, ...changes }]);

  it('has its version, its newest link and its quota, by the order of hashes', async () => {
    expect((await states()).map(({ keyHash }) => keyHash)).toStrictEqual([hashOf(1), hashOf(2)].toSorted());
    expect(head).toStrictEqual({
      ...{ keyHash: hashOf(1), identity: aKey(1).identity, version: 2, deleted: undefined },
      ...{ link: expect.stringMatching(/^[\w-]{43}$/) as string, quotaUsed: 5n, quotaRenews: renews },
    });
  });

  it('is not read if a row is damaged, and a damaged row differs from no state', async () => {
    await place.tamper(`UPDATE keys SET quota_used = 1 WHERE id = ${rowIDOf(hashOf(1))}`);
    await expect(states()).rejects.toThrow(`The key ${hashOf(1)} failed its integrity check`);
    expect(await compare()).toStrictEqual([]);
  });

  it('is followed by a key that stays as it is, changes or counts requests', async () => {
    expect(await compare()).toStrictEqual([]);
    // The beginning of a link, which checkpoints have.
    expect(await compare({ link: head.link.slice(0, 22), quotaUsed: 4n })).toStrictEqual([]);
    await store.update(hashOf(1), (found) => anUpdate(found, { quota: { used: 9n, renews } }));
    expect(await compare()).toStrictEqual([]);
  });

  it('is followed by no key that is missing, or was added again', async () => {
    const missing = { ...head, keyHash: hashOf(3) };
    expect(await storage.checkpoints.compare([missing, head])).toStrictEqual([{ kind: 'missing', head: missing }]);
    const replaced = { ...head, identity: 'b'.repeat(32) };
    expect(await storage.checkpoints.compare([replaced])).toStrictEqual([{ kind: 'replaced', head: replaced }]);
  });

  it('is followed by no key of an older version, or with another history', async () => {
    expect(await compare({ version: 3 })).toMatchObject([{ kind: 'older', version: 2, head: { version: 3 } }]);
    expect(await compare({ link: 'A'.repeat(22) })).toMatchObject([{ kind: 'history' }]);
    expect(await compare({ version: 1 })).toMatchObject([{ kind: 'history' }]);
    await place.tamper(`UPDATE history SET reason = 'forged' WHERE version = 2`);
    expect(await compare()).toMatchObject([{ kind: 'history' }]);
  });

  it('is followed by no key whose count went back in the same period', async () => {
    expect(await compare({ quotaUsed: 6n })).toMatchObject([{ kind: 'quota', quotaUsed: 5n }]);
    await store.update(hashOf(1), (found) => anUpdate(found));
    expect(await compare({ quotaUsed: 6n })).toMatchObject([{ kind: 'quota', quotaUsed: 5n }]);
  });

  it('is followed by no key whose period went back', async () => {
    for (const quotaRenews of [renews + 1n, renews * 2n]) {
      expect(await compare({ quotaRenews })).toMatchObject([{ kind: 'quota' }]);
    }
  });

  it('is followed by no key whose period ended without a change', async () => {
    const end = () => ({ next: { used: 9n, renews: undefined }, result: undefined });
    await storage.store.consume(hashOf(1), end);
    expect(await compare()).toMatchObject([{ kind: 'quota', quotaUsed: 9n }]);
    expect(await compare({ quotaUsed: 10n, quotaRenews: undefined })).toMatchObject([{ kind: 'quota' }]);
  });

  it('is followed by a key whose count began again in a later period, or in the first one', async () => {
    expect(await compare({ quotaUsed: 6n, quotaRenews: renews - 1n })).toStrictEqual([]);
    expect(await compare({ quotaUsed: 6n, quotaRenews: undefined })).toStrictEqual([]);
  });

  it('is followed by a key whose update has begun another period', async () => {
    await store.update(hashOf(1), (found) => anUpdate(found, { quota: { used: 0n, renews: renews - 1n } }));
    expect(await compare()).toStrictEqual([]);
    await store.update(hashOf(1), (found) => anUpdate(found, { quota: { used: 0n, renews: undefined } }));
    expect(await compare()).toStrictEqual([]);
  });

  it('is followed by a key whose count was reset since', async () => {
    await store.update(hashOf(1), (found) => {
      const { next, revision } = anUpdate(found, { quota: { used: 0n, renews } });
      return { next, revision: { ...revision, quotaUsedBeforeReset: 5n } };
    });
    expect(await compare()).toStrictEqual([]);
    expect(await compare({ version: 3, link: (await headOf(1)).link })).toMatchObject([
      { kind: 'quota', quotaUsed: 0n },
    ]);
  });
});
