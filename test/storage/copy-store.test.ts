import { describe, expect, it, vi } from 'vitest';
import {
  copiedTables,
  copyStore,
  createRowSource,
  type CopiedRow,
  type CopiedTableName,
  type HashRange,
  type RowTarget,
} from '../../src/storage/sql/copy-store.js';
import { allOf } from '../support/collect.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';
import { signer } from '../support/signer.js';
import { openOwnSession, sqliteKeyStore } from '../support/storage.js';

const tableNames = Object.keys(copiedTables) as CopiedTableName[];
const wholeTables = tableNames.filter((table) => !copiedTables[table].hasRange);
const names = ['a', 'b', 'c', 'd', 'e'];
type Tables = Map<CopiedTableName, readonly CopiedRow[]>;

/** Rows of all tables: of five keys in three ranges, and of each other table. */
function rowsOfSource(): Tables {
  const others = wholeTables.map((table): [CopiedTableName, CopiedRow[]] => [
    table,
    [{ id: `${table} 1` }, { id: '2' }],
  ]);
  return new Map<CopiedTableName, readonly CopiedRow[]>([
    ['keys', names.map((key_hash) => ({ key_hash, version: 2n, mac: Uint8Array.of(1, 255) }))],
    ['audit', names.flatMap((key_hash) => [1n, 2n].map((version_after) => ({ key_hash, version_after })))],
    ['key_terms', [{ key_hash: 'b', term: 't:x' }]],
    ...others,
  ]);
}

/** A database in memory, which notes the calls that change it. */
function memory(tables: Tables = new Map(), settings = new Map<string, string>()) {
  const calls: unknown[] = [];
  const hashOfRow = (row: CopiedRow) => String(row['key_hash']);
  const isIn = (range: HashRange | undefined, row: CopiedRow) =>
    !range || (hashOfRow(row) > range.after && hashOfRow(row) <= (range.upTo ?? '~'));
  const rowsOf = (table: CopiedTableName) => tables.get(table) ?? [];
  const target: RowTarget = {
    async *rows(table, range) {
      const rows = rowsOf(table).filter((row) => isIn(range, row));
      for (let from = 0; from < rows.length; from += 2) yield rows.slice(from, from + 2);
      await Promise.resolve();
    },
    setting: (name) => Promise.resolve(settings.get(name)),
    async replace(from, replaced, range) {
      calls.push(['replace', range ? range.upTo : replaced.join()]);
      for (const table of replaced) {
        const others = rowsOf(table).filter((row) => !isIn(range, row));
        const rows = [...others, ...(await allOf(from.rows(table, range)))];
        // `sort` keeps the order of rows without a hash.
        tables.set(
          table,
          rows.toSorted((a, b) => (hashOfRow(a) < hashOfRow(b) ? -1 : Number(hashOfRow(a) > hashOfRow(b)))),
        );
      }
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
    // A range has the keys of one chunk. The last one, which has no keys, has no rows in the target either.
    expect(copy.calls).toStrictEqual([
      ...['b', 'd', 'e'].map((upTo) => ['replace', upTo]),
      ...wholeTables.map((table) => ['replace', table]),
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
      'audit',
      (copy.tables.get('audit') ?? []).map(({ key_hash, version_after }) => ({
        version_after,
        key_hash,
        tx: undefined,
      })),
    );
    copy.tables.set('key_terms', []);
    const result = await copyStore(memory(rowsOfSource()).target, copy.target, nothing, nothing);
    expect(result).toMatchObject({ keys: 5, found: 3 });
    expect(copy.calls).toStrictEqual([
      ['replace', 'b'],
      ['finish', {}],
    ]);
  });

  it.each<[string, CopiedTableName, CopiedRow]>([
    ['behind the last key', 'keys', { key_hash: 'f' }],
    ['of a key that has no such entry', 'audit', { key_hash: 'f', version_after: 1n }],
    ['of a term that no key has', 'key_terms', { key_hash: 'f', term: 't:x' }],
  ])('has no row %s that the target had before', async (_, table, row) => {
    const copy = memory(new Map([[table, [row]]]));
    await copyStore(memory(rowsOfSource()).target, copy.target, nothing, nothing);
    expect(copy.tables).toStrictEqual(rowsOfSource());
  });

  it.each<[string, Tables, string]>([
    ['keys', new Map(), 'The rows up to the key b differ from the source after they were written.'],
    [
      'another table',
      new Map([...rowsOfSource()].filter(([table]) => table !== 'credentials')),
      'The rows of credentials differ from the source after they were written.',
    ],
  ])('is not completed if the rows of %s differ after they were written', async (_, rows, message) => {
    const copy = memory(rows);
    const beforeFinish = vi.fn();
    const target = { ...copy.target, replace: () => Promise.resolve() };
    const copying = copyStore(memory(rowsOfSource()).target, target, nothing, beforeFinish);
    await expect(copying).rejects.toThrow(message);
    expect(beforeFinish).not.toHaveBeenCalled();
    expect(copy.calls).toStrictEqual([]);
  });

  it('is not completed if rows stay behind the last key', async () => {
    const copy = memory(new Map([['audit', [{ key_hash: 'f', version_after: 1n }]]]));
    const target = { ...copy.target, replace: () => Promise.resolve() };
    await expect(copyStore(memory().target, target, nothing, nothing)).rejects.toThrow(
      'The rows up to the key at the end differ from the source after they were written.',
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
    const rowsWith = (content: unknown) => new Map([['keys' as const, [{ key_hash: 'a', content }]]]);
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
    const hashes = Array.from({ length: 450 }, (_, name) => hashOf(name)).toSorted();
    const everything = { after: '', upTo: undefined };
    const sizes: number[] = [];
    const read: unknown[] = [];
    for await (const chunk of source.rows('keys', everything)) {
      sizes.push(chunk.length);
      read.push(...chunk.map((row) => row['key_hash']));
    }
    expect(sizes).toStrictEqual([200, 200, 50]);
    expect(read).toStrictEqual(hashes);
    const entries = await allOf(source.rows('audit', everything));
    expect(entries.map((row) => row['key_hash'])).toStrictEqual(
      hashes.flatMap((hash) => (hash === hashOf(7) ? [hash, hash, hash, hash] : [hash])),
    );
    const versions = entries.flatMap((row) => (row['key_hash'] === hashOf(7) ? [row['version_after']] : []));
    expect(versions).toStrictEqual([1n, 2n, 3n, 4n]);
    const range = { after: hashes[9] ?? '', upTo: hashes[11] };
    expect((await allOf(source.rows('key_terms', range))).map((row) => Object.values(row))).toStrictEqual(
      [hashes[10], hashes[11]].flatMap((hash) => ['t:x', 't:y'].map((term) => [term, hash, 'acme'])),
    );
    expect((await allOf(source.rows('keys'))).map((row) => row['key_hash'])).toStrictEqual(hashes);
    expect(await allOf(source.rows('credentials'))).toStrictEqual([]);
    expect(await source.setting('unknown')).toBeUndefined();
  });
});
