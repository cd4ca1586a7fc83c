import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createReadBudget } from '../../../src/keys/read-budget.js';
import { keyTable, keyToRow, type KeyRow } from '../../../src/storage/records/key-records.js';
import { createSignedTable, type SignedRow } from '../../../src/storage/records/signed.js';
import { createHistory } from '../../../src/storage/sql/keys/history.js';
import { sqliteDialect } from '../../../src/storage/sql/dialect.js';
import type { SqlSession } from '../../../src/storage/sql/session.js';
import { createScheduler } from '../../../src/lib/scheduler.js';
import { aKey, hashOf } from '../../support/factories.js';
import { signer } from '../../support/signer.js';
import { countInTurns } from '../../support/turns.js';

const keys = createSignedTable(signer, keyTable);
const rowAt = (version: number) => ({
  ...keys.signed(keyToRow(aKey(1, { version }), Uint8Array.of(version))),
  ...{ id: 1n, head: 1n },
});
/** A database whose history has no entries. */
const unused = () => Promise.reject(new Error('It only reads.'));
const session = {
  ...{ dialect: sqliteDialect, run: unused, transaction: unused, snapshot: unused },
  all: () => Promise.resolve([]),
} as SqlSession;
const findRow = vi.fn<(keyHash: string) => Promise<SignedRow<KeyRow> | undefined>>();
const history = createHistory(session, signer, findRow, createScheduler());

beforeEach(() => void findRow.mockReset());

it('parses the definitions of versions that are read together in time slices', async () => {
  const turns = countInTurns();
  const parse = JSON.parse;
  const row = { ...rowAt(1), definition: '{"alias":"sliced"}' };
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (text === row.definition) turns.work();
    return parse(text, reviver) as unknown;
  });
  findRow.mockResolvedValue(row);
  const sliced = createHistory(session, signer, findRow, turns.slices);
  const definitions = await Promise.all([1, 2, 3].map(() => sliced.definitionAt(hashOf(1), 1)));
  spy.mockRestore();
  expect(definitions).toHaveLength(3);
  expect(turns.most()).toBe(1);
});

it('verifies the entries of histories that are read together in time slices', async () => {
  const turns = countInTurns();
  const entry = {
    get key_identity() {
      turns.work();
      return Buffer.of();
    },
  };
  findRow.mockResolvedValue(rowAt(1));
  const damaged = { ...session, all: () => Promise.resolve([entry]) } as unknown as SqlSession;
  const sliced = createHistory(damaged, signer, findRow, turns.slices);
  const read = await Promise.allSettled([1, 2, 3].map(() => sliced.historyOf(hashOf(1))));
  expect(read.map(({ status }) => status)).toStrictEqual(['rejected', 'rejected', 'rejected']);
  expect(turns.most()).toBe(1);
});

describe('a history whose entries are missing', () => {
  it('is rejected with INTERNAL when the key stays the same', async () => {
    findRow.mockImplementation(() => Promise.resolve(rowAt(2)));
    const message = `The history of ${hashOf(1)} failed its integrity check; run \`keyfront check\` for details.`;
    await expect(history.historyOf(hashOf(1))).rejects.toMatchObject({ code: 'INTERNAL', message });
    await expect(history.definitionAt(hashOf(1), 1)).rejects.toMatchObject({ code: 'INTERNAL', message });
    expect(findRow).toHaveBeenCalledTimes(4);
  });

  it('is rejected with UNAVAILABLE when the key has changed after each of five reads', async () => {
    let version = 0;
    findRow.mockImplementation(() => Promise.resolve(rowAt((version += 1))));
    const busy = { code: 'UNAVAILABLE', message: 'Storage is busy.', retryAfterSeconds: 1 };
    await expect(history.historyOf(hashOf(1))).rejects.toMatchObject(busy);
    expect(findRow).toHaveBeenCalledTimes(5);
  });

  it('is empty when the key was purged meanwhile', async () => {
    findRow.mockResolvedValueOnce(rowAt(1));
    expect(await history.historyOf(hashOf(1))).toStrictEqual([]);
    expect(findRow).toHaveBeenCalledTimes(2);
  });

  it('counts towards the budget of a request once, and ends with its deadline', async () => {
    findRow.mockImplementation(() => Promise.resolve(rowAt(1)));
    let nowMs = 0;
    const reads = createReadBudget(5_000, 1_000, () => nowMs);
    const take = vi.spyOn(reads, 'take');
    await expect(history.historyOf(hashOf(1), {}, reads)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(take.mock.calls).toStrictEqual([['history entries', 0, 0]]);
    nowMs = 5_000;
    await expect(history.historyOf(hashOf(1), {}, reads)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('has no definition of a version that the key does not have', async () => {
    findRow.mockImplementation(() => Promise.resolve(rowAt(2)));
    for (const version of [-1, 0, 3]) expect(await history.definitionAt(hashOf(1), version)).toBeUndefined();
    expect(findRow).toHaveBeenCalledTimes(3);
  });
});
