import { expect, it } from 'vitest';
import type { StoredKey } from '../../../src/keys/key.js';
import { createUseLog } from '../../../src/keys/use/use-log.js';
import type { KeyUse } from '../../../src/keys/use/use.js';

const keyOf = (number: number, identity = 'i') => ({ keyHash: `h${number}`, identity }) as StoredKey;
const request = { hash: 'h', amount: 1n, isAllowed: true };

function setUp(maxKeys: number) {
  const clock = { now: new Date('2026-01-31T23:59:59Z') };
  const written: KeyUse[] = [];
  const store = { fails: false, sizes: [] as number[] };
  const add = async (uses: readonly KeyUse[]) => {
    await Promise.resolve();
    if (store.fails) throw new Error('full');
    store.sizes.push(uses.length);
    written.push(...uses);
  };
  const log = createUseLog({ store: { add }, now: () => clock.now, maxKeys });
  return { clock, written, store, log };
}

it('writes one row for each key and day, in batches', async () => {
  const { clock, written, store, log } = setUp(1000);
  for (let round = 0; round < 3; round += 1) {
    for (let number = 0; number < 250; number += 1) log.note(keyOf(number), request);
  }
  clock.now = new Date('2026-02-01T00:00:00Z');
  log.note(keyOf(1), { ...request, isAllowed: false, amount: 5n });
  await log.flush();
  expect(store.sizes).toEqual([100, 100, 51]);
  const ofOne = written
    .filter(({ keyHash }) => keyHash === 'h1')
    .map(({ day, allowed, denied }) => [day, allowed, denied]);
  expect(ofOne).toEqual([
    [20_484, 3n, 0n],
    [20_485, 0n, 5n],
  ]);
  expect(log.waiting()).toBe(0);
});

it('has one row for a day to which the clock returns, and none for an earlier key with the hash', async () => {
  const { clock, written, log } = setUp(1000);
  const [first, second] = [clock.now, new Date('2026-02-01T00:00:00Z')];
  for (const now of [first, second, first, second]) {
    clock.now = now;
    log.note(keyOf(1), request);
    log.note(keyOf(1), { ...request, isAllowed: false });
  }
  log.note(keyOf(1, 'other'), request);
  expect(log.waiting()).toBe(5);
  await log.flush();
  expect(written.map(({ day, identity, allowed, denied }) => [day, identity, allowed, denied])).toEqual([
    [20_484, 'i', 2n, 2n],
    [20_485, 'i', 2n, 2n],
    [20_485, 'other', 1n, 0n],
  ]);
});

it('holds no more than twice the keys of a batch while the store fails, counts those further, and writes all later', async () => {
  const { written, store, log } = setUp(100);
  store.fails = true;
  for (let number = 0; number < 1000; number += 1) {
    log.note(keyOf(number), request);
    expect(log.waiting()).toBeLessThanOrEqual(200);
    if (number % 50 === 0) await log.flush().catch(() => undefined);
  }
  await log.flush().catch(() => undefined);
  const { length } = Array.from({ length: log.waiting() });
  expect(log.dropped()).toBe(1000 - length);
  // Those that wait go on counting.
  log.note(keyOf(0), request);
  store.fails = false;
  await log.flush();
  expect(written).toHaveLength(length);
  expect(written.find(({ keyHash }) => keyHash === 'h0')?.allowed).toBe(2n);
});

it('writes early when many keys have uses', async () => {
  const { store, log } = setUp(100);
  for (let number = 0; number < 150; number += 1) log.note(keyOf(number), request);
  await Promise.resolve();
  await Promise.resolve();
  expect(store.sizes).toEqual([100]);
  await log.flush();
  expect(store.sizes).toEqual([100, 50]);
});

it('writes the uses that were noted during a write', async () => {
  const { written, log } = setUp(100);
  log.note(keyOf(1), request);
  const first = log.flush();
  log.note(keyOf(1), request);
  await Promise.all([first, log.flush()]);
  expect(written.reduce((sum, { allowed }) => sum + allowed, 0n)).toBe(2n);
});
