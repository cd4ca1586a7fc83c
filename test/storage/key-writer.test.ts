import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { diffDefinitions } from '../../src/keys/key-diff.js';
import type { Meter } from '../../src/telemetry/ports.js';
import type { Database } from '../../src/storage/sqlite/connection.js';
import { createWriteGate } from '../../src/storage/sqlite/write-gate.js';
import type { RunExclusive } from '../../src/storage/storage.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase, sqliteKeyStore } from '../support/storage.js';
import { until } from '../support/until.js';
import { aChange, aKey, anUpdate, aRevision, hashOf } from '../support/factories.js';

let database: Database;
beforeEach(() => {
  database = openOwnDatabase();
  // A group is limited in time.
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => void vi.useRealTimers());

const names = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A meter that notes the number of changes of each group. */
function meterOf(sizes: number[]): Meter {
  return {
    registerGauge: () => undefined,
    committed: (changes: number) => void sizes.push(changes),
    commitFailed: () => void sizes.push(0),
  } as unknown as Meter;
}

/** A store with keys from 0 on, and the sizes of the groups that it writes. */
async function storeOf(count: number, { runExclusive }: { runExclusive?: RunExclusive } = {}) {
  const sizes: number[] = [];
  await sqliteKeyStore(database, signer).add(names(count).map((name) => aChange(aKey(name))));
  const meter = meterOf(sizes);
  const gate = createWriteGate(database, { runExclusive, meter });
  const store = sqliteKeyStore(database, signer, { gate });
  return { store, sizes };
}

describe('the key writer on SQLite', () => {
  it('writes concurrent changes in one group, those of one key in their order', async () => {
    const { store, sizes } = await storeOf(3);
    const consume = () =>
      store.consume(hashOf(0), (found) => ({
        next: { used: (found?.quota.used ?? 0n) + 1n, renews: undefined },
        result: found?.quota.used,
      }));
    expect(await Promise.all(names(50).map(consume))).toEqual(names(50).map(BigInt));
    expect(sizes).toEqual([50]);
    await Promise.all(names(3).map((name) => store.update(hashOf(name), (found) => anUpdate(found))));
    expect(sizes).toEqual([50, 3]);
  });

  it('encodes each definition once, and parses only the one before a change', async () => {
    const { store } = await storeOf(0);
    const spies = [vi.spyOn(JSON, 'stringify'), vi.spyOn(JSON, 'parse')] as const;
    const key = aKey(0, { definition: { alias: 'the definition' } });
    const [created, updated] = [diffDefinitions(undefined, key), anUpdate(key, { lastUpdated: 1n })];
    /** How many of the texts since the last call had the definition. */
    const counts = () => {
      const texts = [
        spies[0].mock.results.map(({ value }) => value as unknown),
        spies[1].mock.calls.map(([text]) => text),
      ];
      for (const spy of spies) spy.mockClear();
      return texts.map((all) => all.filter((text) => String(text).includes('the definition')).length);
    };
    try {
      await store.add([{ next: key, revision: aRevision(key, { changes: created }) }]);
      expect(counts()).toEqual([1, 0]);
      await store.update(key.keyHash, () => updated);
      expect(counts()).toEqual([1, 1]);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  });

  it('writes at most 128 changes at once, in the order of the calls', async () => {
    const { store, sizes } = await storeOf(2);
    const order: number[] = [];
    await Promise.all(
      names(300).map((index) =>
        store.update(hashOf(index % 2), (found) => {
          order.push(index);
          return anUpdate(found);
        }),
      ),
    );
    const byKey = [0, 1].map((key) => order.filter((index) => index % 2 === key));
    expect(byKey).toEqual([0, 1].map((key) => names(300).filter((index) => index % 2 === key)));
    expect(sizes).toEqual([128, 128, 44]);
  });

  it('rejects changes with UNAVAILABLE while 500 wait, and writes those', async () => {
    const turns: (() => void)[] = [];
    const { store } = await storeOf(1, {
      runExclusive: async (work) => {
        await new Promise<void>((resolve) => turns.push(resolve));
        return work();
      },
    });
    const update = () => store.update(hashOf(0), (found) => anUpdate(found));
    const accepted = names(500).map(update);
    await expect(update()).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    let isWritten = false;
    const written = Promise.all(accepted).then((results) => {
      isWritten = true;
      return results;
    });
    await until(() => {
      turns.splice(0).forEach((turn) => turn());
      return isWritten;
    });
    expect(await written).toHaveLength(500);
    const again = update();
    await until(() => turns.length > 0);
    turns.forEach((turn) => turn());
    await expect(again).resolves.toBeDefined();
  });

  it('takes the changes that are requested while this process waits for its turn to write', async () => {
    const turns: (() => void)[] = [];
    const { store, sizes } = await storeOf(2, {
      runExclusive: async (work) => {
        await new Promise<void>((resolve) => turns.push(resolve));
        return work();
      },
    });
    const update = (name: number) => store.update(hashOf(name), (found) => anUpdate(found));
    const first = update(0);
    await until(() => turns.length === 1);
    const others = [update(0), update(1)];
    turns[0]?.();
    expect((await Promise.all([first, ...others])).map((one) => one?.next.version)).toEqual([2, 3, 2]);
    expect([sizes, turns.length]).toEqual([[3], 1]);
  });

  /** Requests a change in each of the next iterations of the event loop. */
  const inIterations = (count: number, change: () => Promise<unknown>): Promise<unknown>[] => {
    if (count === 0) return [];
    const rest = new Promise((resolve) => setImmediate(() => resolve(Promise.all(inIterations(count - 1, change)))));
    return [change(), rest];
  };

  it('writes the changes of consecutive iterations of the event loop in one group', async () => {
    const { store, sizes } = await storeOf(1);
    await Promise.all(inIterations(4, () => store.update(hashOf(0), (found) => anUpdate(found))));
    expect(sizes).toEqual([4]);
  });

  it('writes after 5 ms although changes keep coming', async () => {
    const { store, sizes } = await storeOf(1);
    const update = () => {
      vi.advanceTimersByTime(2);
      return store.update(hashOf(0), (found) => anUpdate(found));
    };
    await Promise.all(inIterations(6, update));
    expect([sizes.length, sizes.reduce((sum, size) => sum + size)]).toEqual([2, 6]);
  });

  it('starts no further change of a group after 10 ms, of the same key or of another', async () => {
    const { store, sizes } = await storeOf(2);
    const order: number[] = [];
    const slow = (key: number, index: number) =>
      store.update(hashOf(key), (found) => {
        vi.advanceTimersByTime(6);
        order.push(index);
        return anUpdate(found);
      });
    const done = await Promise.all([slow(0, 0), slow(0, 1), slow(0, 2), slow(1, 3), slow(1, 4)]);
    expect(done.map((one) => one?.next.version)).toEqual([2, 3, 4, 2, 3]);
    expect([order, sizes]).toEqual([
      [0, 1, 2, 3, 4],
      [2, 2, 1],
    ]);
  });

  it('writes all other changes of a group if the database rejects one, whichever it is', async () => {
    const { store, sizes } = await storeOf(5);
    for (const bad of names(5)) {
      sizes.length = 0;
      const before = await Promise.all(names(5).map(async (name) => (await store.find(hashOf(name)))?.version ?? 0));
      const outcomes = await Promise.allSettled(
        names(5).map((name) =>
          store.update(hashOf(name), (found) => {
            const change = anUpdate(found);
            return name === bad ? { ...change, revision: { ...change.revision, versionAfter: 1 } } : change;
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(names(5).map((name) => name === bad));
      const after = await Promise.all(names(5).map(async (name) => (await store.find(hashOf(name)))?.version ?? 0));
      expect(after).toEqual(before.map((version, name) => (name === bad ? version : version + 1)));
      expect(sizes).toEqual([0, 4]);
    }
  });

  it('resolves a committed change although telemetry throws', async () => {
    await sqliteKeyStore(database, signer).add([aChange(aKey(0)), aChange(aKey(1))]);
    const faults: unknown[] = [];
    const noteFault = (error: unknown) => void faults.push(error);
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', noteFault);
    onTestFinished(() => {
      process.removeListener('unhandledRejection', noteFault);
      for (const listener of listeners) process.on('unhandledRejection', listener);
    });
    const fail = () => {
      throw new Error('telemetry failed');
    };
    const meter = { registerGauge: () => undefined, committed: fail, commitFailed: fail } as unknown as Meter;
    const store = sqliteKeyStore(database, signer, { telemetry: { meter } });
    const update = (name: number) => store.update(hashOf(name), (found) => anUpdate(found));
    await expect(update(0)).resolves.toMatchObject({ next: { version: 2 } });
    await expect(Promise.all([update(0), update(1)])).resolves.toMatchObject([
      { next: { version: 3 } },
      { next: { version: 2 } },
    ]);
    await until(() => faults.length === 2);
  });
});
