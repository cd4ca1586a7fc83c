import { describe, expect, it } from 'vitest';
import type { HistoryRange } from '../../../src/keys/key-query.js';
import {
  keyToRow,
  type KeyRow,
  hasChanges,
  linkOf,
  revisionFromRow,
  revisionToRow,
  type RevisionRow,
  type StoredRevisionRow,
} from '../../../src/storage/records/key-records.js';
import type { SignedRow } from '../../../src/storage/records/signed.js';
import {
  createChain,
  isUnbroken,
  partsOf,
  readBytes,
  sizeOf,
  spanOf,
  type Span,
} from '../../../src/storage/sql/keys/history-entries.js';
import { aKey, aRevision } from '../../support/factories.js';

const { identity } = aKey(1);
const row = { version: 7n, identity: Buffer.from(identity, 'hex') };

describe('the span of a range of history', () => {
  it.each<[string, HistoryRange, Span]>([
    ['all versions', {}, { first: 1, newest: 7 }],
    ['those after one', { after: 2 }, { first: 3, newest: 7 }],
    ['those from the first one', { after: -5 }, { first: 1, newest: 7 }],
    ['those before one', { before: 6 }, { first: 1, newest: 5 }],
    ['those before one that does not exist', { before: 99 }, { first: 1, newest: 7 }],
    ['the first ones', { after: 1, limit: 2 }, { first: 2, newest: 3 }],
    ['fewer than the limit', { limit: 9 }, { first: 1, newest: 7 }],
    ['the last ones', { last: true, limit: 2 }, { first: 6, newest: 7 }],
    ['the last ones between two', { last: true, limit: 2, after: 1, before: 4 }, { first: 2, newest: 3 }],
    ['the last ones after one', { last: true, limit: 5, after: 4 }, { first: 5, newest: 7 }],
    ['all of the last ones', { last: true }, { first: 1, newest: 7 }],
    ['those up to the version that was read', { asOf: { identity, version: 3 } }, { first: 1, newest: 3 }],
    ['those up to the stored version', { asOf: { identity, version: 8 } }, { first: 1, newest: 7 }],
  ])('selects %s', (_, range, span) => {
    expect(spanOf(range, row)).toStrictEqual(span);
  });

  it('has no version when there is no key, or for a limit of none', () => {
    for (const { first, newest } of [spanOf({}, undefined), spanOf({ limit: 0 }, row), spanOf({ after: 7 }, row)]) {
      expect(newest).toBeLessThan(first);
    }
  });

  it('is rejected when the key that was read is not there any more', () => {
    const asOf = { identity, version: 1 };
    const error = { code: 'NOT_FOUND', message: 'The key was purged while it was read.' };
    for (const found of [undefined, { ...row, identity: Buffer.alloc(16) }]) {
      expect(() => spanOf({ asOf }, found)).toThrow(expect.objectContaining(error));
    }
  });
});

/** The definition after a version. */
const definitionAt = (version: number) => `{"rate":${version}}`;
const resultAt = (version: number) => ({ definition: { rate: version }, json: definitionAt(version) });

/** The entries of a key from its first version on, linked to each other. */
function entries(count: number): StoredRevisionRow[] {
  const rows: StoredRevisionRow[] = [];
  for (let version = 1; version <= count; version += 1) {
    const last = rows.at(-1);
    const base = last && { definition: definitionAt(version - 1), history_link: last.link };
    const entry = revisionToRow(aRevision(aKey(1, { version })), resultAt(version), base);
    rows.push({ ...entry, ...{ mac: Uint8Array.of(version), id: BigInt(version), key: 1n, first_definition: null } });
  }
  return rows;
}
const ours = () => true;
const isFirst = ({ mac }: SignedRow<RevisionRow>) => mac[0] === 1;

describe('entries of a span', () => {
  it('are unbroken if each version is there once, in order and authentic', () => {
    const [one, two, three] = entries(3) as [StoredRevisionRow, StoredRevisionRow, StoredRevisionRow];
    const span = { first: 2, newest: 3 };
    expect(isUnbroken([two, three], span, ours)).toBe(true);
    expect(isUnbroken([], { first: 1, newest: 0 }, ours)).toBe(true);
    for (const rows of [[two], [three, two], [one, two], [two, two], [one, two, three]]) {
      expect(isUnbroken(rows, span, ours)).toBe(false);
    }
    expect(isUnbroken([one, two], { first: 1, newest: 2 }, isFirst)).toBe(false);
  });

  it('are read in parts that are not larger than one read, and missing ones lie in a part', () => {
    const sized = (...sizes: readonly number[]) =>
      sizes.map((size, index) => ({ version: BigInt(index + 2), size: BigInt(size) }));
    const half = readBytes / 2;
    expect(partsOf({ first: 2, newest: 4 }, sized(half, half, 1))).toStrictEqual([
      { first: 2, newest: 3 },
      { first: 4, newest: 4 },
    ]);
    expect(partsOf({ first: 2, newest: 9 }, sized(half + 1, half, half))).toStrictEqual([
      { first: 2, newest: 2 },
      { first: 3, newest: 9 },
    ]);
    expect(partsOf({ first: 2, newest: 4 }, [])).toStrictEqual([{ first: 2, newest: 4 }]);
    expect(readBytes).toBe(262_144);
    expect(sizeOf(sized(1, 2, 3))).toBe(6);
  });
});

describe('the changes of a first entry that adds its definition', () => {
  const key = aKey(1, { definition: { rate: 1 } });
  const revision = aRevision(key, { changes: [{ path: ['rate'], kind: 'ADDED', after: 1 }] });
  const stored = (row: RevisionRow, definition: string | null): StoredRevisionRow => ({
    ...row,
    ...{ mac: Uint8Array.of(1), id: 1n, key: 1n, first_definition: definition },
  });

  it('are read from the definition that it is linked with, and from no other', () => {
    const row = revisionToRow(revision, resultAt(1), undefined);
    expect(row).toMatchObject({ changes: null, before: null });
    expect(hasChanges(stored(row, definitionAt(1)))).toBe(true);
    expect(revisionFromRow(stored(row, definitionAt(1)))).toStrictEqual(revision);
    for (const other of [definitionAt(2), null]) {
      expect(hasChanges(stored(row, other))).toBe(false);
      expect(isUnbroken([stored(row, other)], { first: 1, newest: 1 }, ours)).toBe(false);
    }
  });

  it('are stored if they are others, such as those of secrets', () => {
    const withSecret = { ...revision, changes: [...revision.changes, { path: ['hmacString'], kind: 'SET' } as const] };
    for (const other of [withSecret, { ...revision, changes: [] }]) {
      const row = revisionToRow(other, resultAt(1), undefined);
      expect(row.changes).not.toBeNull();
      expect(revisionFromRow(stored(row, null))).toStrictEqual(other);
    }
  });
});

describe('the chain of a history', () => {
  const keyAt = (version: number, link: Uint8Array, after = version): KeyRow => ({
    ...keyToRow(aKey(1, { version }), link),
    definition: definitionAt(after),
  });
  const isWhole = (rows: readonly SignedRow<RevisionRow>[], key: KeyRow, isGood = ours) => {
    const chain = createChain(isGood);
    for (const entry of rows) chain.add(entry);
    return chain.endsAt(key);
  };
  const linkOfLast = (rows: readonly SignedRow<RevisionRow>[]) => rows.at(-1)?.link ?? new Uint8Array();

  it.each([1, 2, 3])('ends at the version, the link and the definition of the key after %i entries', (count) => {
    const rows = entries(count);
    expect(isWhole(rows, keyAt(count, linkOfLast(rows)))).toBe(true);
  });

  it.each<[string, (rows: SignedRow<RevisionRow>[]) => SignedRow<RevisionRow>[]]>([
    ['is missing', ([one, , three]) => [one, three].flatMap((found) => found ?? [])],
    ['is missing at the beginning', (rows) => rows.slice(1)],
    ['is missing at the end', (rows) => rows.slice(0, -1)],
    ['was changed', (rows) => rows.map((found, n) => (n === 1 ? { ...found, reason: 'x' } : found))],
    [
      'was changed with its link',
      (rows) =>
        rows.map((found, n) => {
          const changed = { ...found, reason: 'x' };
          return n === 1 ? { ...changed, link: linkOf(rows[0]?.link ?? null, changed, definitionAt(2)) } : found;
        }),
    ],
    [
      'has another definition before it',
      (rows) => rows.map((found, n) => (n === 1 ? { ...found, before: definitionAt(7) } : found)),
    ],
    [
      'has a definition before the first',
      (rows) => rows.map((found, n) => (n === 0 ? { ...found, before: '{}' } : found)),
    ],
  ])('is broken by an entry that %s', (_, change) => {
    const rows = entries(3);
    expect(isWhole(change(rows), keyAt(3, linkOfLast(rows)))).toBe(false);
  });

  it('is broken by an entry that is not authentic', () => {
    const rows = entries(2);
    expect(isWhole(rows, keyAt(2, linkOfLast(rows)), isFirst as typeof ours)).toBe(false);
  });

  it('does not end at a key of another version, or with another link or definition', () => {
    const rows = entries(2);
    const link = linkOfLast(rows);
    expect(isWhole(rows, keyAt(3, link))).toBe(false);
    expect(isWhole(rows, keyAt(2, rows[0]?.link ?? link))).toBe(false);
    expect(isWhole(rows, keyAt(2, link, 1))).toBe(false);
    expect(isWhole([], keyAt(0, link))).toBe(false);
  });
});
