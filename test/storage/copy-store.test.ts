import { describe, expect, it, vi } from 'vitest';
import {
  copiedTables,
  copyStore,
  createRowSource,
  type CopiedRow,
  type CopiedTableName,
  type RowRange,
  type RowTarget,
} from '../../src/storage/sql/copy-store.js';
import { allOf } from '../support/collect.js';
import { aChange, aKey, anUpdate, hashOf, rowIDOf } from '../support/factories.js';
import { signer } from '../support/signer.js';
import { openOwnSession, sqliteKeyStore } from '../support/storage.js';

const tableNames = Object.keys(copiedTables) as CopiedTableName[];
type Tables = Map<CopiedTableName, readonly CopiedRow[]>;

/** Rows of a table, the first column of whose key counts from 1. */
function rowsOfTable(table: CopiedTableName, count: number): CopiedRow[] {
  const [first, ...others] = copiedTables[table].order;
  return Array.from({ length: count }, (_, index) => ({
    [first]: BigInt(index + 1),
    ...Object.fromEntries(others.map((column) => [column, 1n])),
    mac: Uint8Array.of(index, 255),
  }));
}

/** Rows of all tables: five keys, which are three ranges, ten entries, and two rows of each other table. */
function rowsOfSource(): Tables {
  const counts: Partial<Record<CopiedTableName, number>> = { keys: 5, history: 10 };
  return new Map(tableNames.map((table) => [table, rowsOfTable(table, counts[table] ?? 2)]));
}

/** A database in memory, which notes the calls that change it. A chunk has two rows. */
function memory(tables: Tables = new Map(), settings = new Map<string, string>()) {
  const calls: unknown[] = [];
  const firstOf = (table: CopiedTableName, row: CopiedRow) => row[copiedTables[table].order[0]] as bigint;
  const isIn = (table: CopiedTableName, { after, upTo }: RowRange, row: CopiedRow) =>
    firstOf(table, row) > BigInt(Number(after?.[0] ?? 0n)) && firstOf(table, row) <= BigInt(Number(upTo?.[0] ?? 99n));
  const rowsOf = (table: CopiedTableName) => tables.get(table) ?? [];
  const target: RowTarget = {
    async *rows(table, range) {
      const rows = rowsOf(table).filter((row) => isIn(table, range, row));
      for (let from = 0; from < rows.length; from += 2) yield rows.slice(from, from + 2);
      await Promise.resolve();
    },
    setting: (name) => Promise.resolve(settings.get(name)),
    async replace(from, table, range) {
      calls.push(['replace', table, range.upTo?.[0]]);
      const others = rowsOf(table).filter((row) => !isIn(table, range, row));
      const rows = [...others, ...(await allOf(from.rows(table, range)))];
      tables.set(
        table,
        rows.toSorted((a, b) => Number(firstOf(table, a) - firstOf(table, b))),
      );
    },
    finish(given) {
      calls.push(['finish', Object.fromEntries(given)]);
      return Promise.resolve();
    },
  };
  return { target, tables, calls };
}

const nothing = () => undefined;

const settings = new Map([
  ['key_hash', 'sha256'],
  ['key_ring', 'check value'],
  ['other', 'not copied'],
]);

describe('a copy of all rows to another database', () => {
  it('has the rows of all tables, and the settings that belong to them', async () => {
    const source = memory(rowsOfSource(), settings);
    const copy = memory();
    const progress: number[] = [];
    const beforeFinish = vi.fn(() => void copy.calls.push('before'));
    const show = (keys: number) => void progress.push(keys);
    expect(await copyStore(source.target, copy.target, show, beforeFinish)).toStrictEqual({
      keys: 5,
      entries: 10,
      credentials: 2,
      found: 0,
    });
    expect(copy.tables).toStrictEqual(source.tables);
    expect(progress).toStrictEqual([2, 4, 5, 5]);
    const replaced = (table: CopiedTableName) =>
      ({ keys: [2n, 4n, 5n], history: [2n, 4n, 6n, 8n, 10n] })[table as string] ?? [2n];
    expect(copy.calls).toStrictEqual([
      ...tableNames.flatMap((table) => replaced(table).map((upTo) => ['replace', table, upTo])),
      'before',
      ['finish', { key_hash: 'sha256', key_ring: 'check value' }],
    ]);
    expect(source.calls).toStrictEqual([]);
  });

  it('leaves out settings that the source does not have', async () => {
    const copy = memory();
    await copyStore(memory().target, copy.target, nothing, nothing);
    expect(copy.calls.at(-1)).toStrictEqual(['finish', {}]);
  });

  it('continues after an interruption: it skips the ranges that are identical', async () => {
    const copy = memory(rowsOfSource());
    // The columns of another engine are in another order, and may be undefined.
    copy.tables.set(
      'history',
      rowsOfTable('history', 10).map(({ id, mac }) => ({ mac, id, tx: undefined })),
    );
    copy.tables.set('keys', rowsOfTable('keys', 3));
    copy.tables.set('key_terms', []);
    const result = await copyStore(memory(rowsOfSource()).target, copy.target, nothing, nothing);
    expect(result).toMatchObject({ keys: 5, found: 2 });
    expect(copy.calls).toStrictEqual([
      ['replace', 'keys', 4n],
      ['replace', 'keys', 5n],
      ['replace', 'key_terms', 2n],
      ['finish', {}],
    ]);
    expect(copy.tables.get('keys')).toStrictEqual(rowsOfTable('keys', 5));
  });

  it.each(tableNames)('has no row of %s behind the last that the target had before', async (table) => {
    const copy = memory(new Map([[table, rowsOfTable(table, 12)]]));
    await copyStore(memory(rowsOfSource()).target, copy.target, nothing, nothing);
    expect(copy.tables).toStrictEqual(new Map([[table, rowsOfSource().get(table)], ...rowsOfSource()]));
  });

  it.each(tableNames)('is not completed if the rows of %s differ after they were written', async (name) => {
    const copy = memory(new Map([...rowsOfSource()].filter(([table]) => table !== name)));
    const beforeFinish = vi.fn();
    const target = { ...copy.target, replace: () => Promise.resolve() };
    const copying = copyStore(memory(rowsOfSource()).target, target, nothing, beforeFinish);
    await expect(copying).rejects.toThrow(`The rows of ${name} differ from the source after they were written.`);
    expect(beforeFinish).not.toHaveBeenCalled();
    expect(copy.calls).toStrictEqual([]);
  });

  it('is not completed if rows stay behind the last one', async () => {
    const copy = memory(new Map([['history', rowsOfTable('history', 1)]]));
    const target = { ...copy.target, replace: () => Promise.resolve() };
    await expect(copyStore(memory().target, target, nothing, nothing)).rejects.toThrow(
      'The rows of history differ from the source after they were written.',
    );
  });

  it.each<[string, unknown, unknown]>([
    ['a text', 2n, '2'],
    ['a number', 2n, 2],
    ['another integer', 2n, 3n],
    ['null', '', null],
    ['a text of its digits', Uint8Array.of(255), 'ff'],
    ['other bytes', Uint8Array.of(1, 2), Uint8Array.of(1, 3)],
  ])('differs if it has %s in place of a value', async (_, value, other) => {
    const rowsWith = (content: unknown) => new Map([['keys' as const, [{ id: 1n, content }]]]);
    const copy = memory(rowsWith(other));
    const result = await copyStore(memory(rowsWith(value)).target, copy.target, nothing, nothing);
    expect(result).toMatchObject({ keys: 1, found: 0 });
  });
});

describe('the rows of a database that is copied', () => {
  it('are read in chunks in the order of their keys, within a range', async () => {
    const { database, gate, session } = openOwnSession();
    const store = sqliteKeyStore(database, signer, { gate });
    const definition = { tags: ['x', 'y'] };
    await store.add(Array.from({ length: 450 }, (_, name) => aChange(aKey(name, { definition }))));
    for (let count = 0; count < 3; count += 1) await store.update(hashOf(7), (found) => anUpdate(found));
    const source = createRowSource(session);
    const ids = Array.from({ length: 450 }, (_, name) => rowIDOf(hashOf(name))).toSorted((a, b) => (a < b ? -1 : 1));
    const everything = { after: undefined, upTo: undefined };
    const sizes: number[] = [];
    const read: unknown[] = [];
    for await (const chunk of source.rows('keys', everything)) {
      sizes.push(chunk.length);
      read.push(...chunk.map((row) => row['id']));
    }
    expect(sizes).toStrictEqual([200, 200, 50]);
    expect(read).toStrictEqual(ids);
    const entries = await allOf(source.rows('history', everything));
    expect(entries.map((row) => row['id'])).toStrictEqual(Array.from({ length: 453 }, (_, index) => BigInt(index + 1)));
    const versions = entries.flatMap((row) => (row['key'] === rowIDOf(hashOf(7)) ? [row['version']] : []));
    expect(versions).toStrictEqual([1n, 2n, 3n, 4n]);
    const range = { after: [1n, ids[448] ?? 0n], upTo: [2n, ids[0] ?? 0n] };
    expect((await allOf(source.rows('key_terms', range))).map((row) => Object.values(row))).toStrictEqual([
      [1n, ids[449], 1n],
      [2n, ids[0], 1n],
    ]);
    expect(await allOf(source.rows('terms', everything))).toStrictEqual([
      { id: 1n, name: 't:x' },
      { id: 2n, name: 't:y' },
    ]);
    expect(await allOf(source.rows('credentials', everything))).toStrictEqual([]);
    expect(await source.setting('unknown')).toBeUndefined();
  });
});
