import { describe, expect, it } from 'vitest';
import type { HistoryRange } from '../../../src/keys/key-query.js';
import { keyToRow, type KeyRow } from '../../../src/storage/records/key.js';
import { linkOf, revisionToRow, type RevisionRow } from '../../../src/storage/records/revision.js';
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

const dateCreated = aKey(1).dateCreated;
const row = { version: 7n, date_created: dateCreated };

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
    ['those up to the version that was read', { asOf: { dateCreated, version: 3 } }, { first: 1, newest: 3 }],
    ['those up to the stored version', { asOf: { dateCreated, version: 8 } }, { first: 1, newest: 7 }],
  ])('selects %s', (_, range, span) => {
    expect(spanOf(range, row)).toStrictEqual(span);
  });

  it('has no version when there is no key, or for a limit of none', () => {
    for (const { first, newest } of [spanOf({}, undefined), spanOf({ limit: 0 }, row), spanOf({ after: 7 }, row)]) {
      expect(newest).toBeLessThan(first);
    }
  });

  it('is rejected when the key that was read is not there any more', () => {
    const asOf = { dateCreated, version: 1 };
    const error = { code: 'NOT_FOUND', message: 'The key was purged while it was read.' };
    for (const found of [undefined, { ...row, date_created: 'another' }]) {
      expect(() => spanOf({ asOf }, found)).toThrow(expect.objectContaining(error));
    }
  });
});

/** The entries of a key from its first version on, linked to each other. */
function entries(count: number): SignedRow<RevisionRow>[] {
  const rows: SignedRow<RevisionRow>[] = [];
  for (let version = 1; version <= count; version += 1) {
    const entry = revisionToRow(aRevision(aKey(1, { version })), '{}', rows.at(-1)?.link ?? null);
    rows.push({ ...entry, mac: Uint8Array.of(version) });
  }
  return rows;
}
const ours = () => true;
const isFirst = ({ mac }: SignedRow<RevisionRow>) => mac[0] === 1;

describe('entries of a span', () => {
  it('are unbroken if each version is there once, in order and authentic', () => {
    const [one, two, three] = entries(3) as [SignedRow<RevisionRow>, SignedRow<RevisionRow>, SignedRow<RevisionRow>];
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

describe('the chain of a history', () => {
  const keyAt = (version: number, link: Uint8Array): KeyRow => keyToRow(aKey(1, { version }), link);
  const endOf = (rows: readonly SignedRow<RevisionRow>[], key: KeyRow, isGood = ours) => {
    const chain = createChain(isGood);
    const results = rows.map((entry) => chain.add(entry));
    return { results, end: chain.endAt(key) };
  };

  it('ends with the entry of the version and the link of the key', () => {
    const rows = entries(3);
    const last = rows.at(-1);
    const { results, end } = endOf(rows, keyAt(3, last?.link ?? new Uint8Array()));
    expect(results).toStrictEqual([true, true, true]);
    expect(end).toBe(last);
  });

  it.each<[string, (rows: SignedRow<RevisionRow>[]) => SignedRow<RevisionRow>[], boolean[]]>([
    ['is missing', ([one, , three]) => [one, three].flatMap((found) => found ?? []), [true, false]],
    ['is missing at the beginning', (rows) => rows.slice(1), [false, false]],
    [
      'was changed',
      (rows) => rows.map((found, n) => (n === 1 ? { ...found, reason: 'x' } : found)),
      [true, false, false],
    ],
    [
      'was changed with its link',
      (rows) =>
        rows.map((found, n) => {
          const changed = { ...found, reason: 'x' };
          return n === 1 ? { ...changed, link: linkOf(rows[0]?.link ?? null, changed) } : found;
        }),
      [true, true, false],
    ],
  ])('is broken from the entry on that %s', (_, change, expected) => {
    const rows = entries(3);
    const { results, end } = endOf(change(rows), keyAt(3, rows.at(-1)?.link ?? new Uint8Array()));
    expect(results).toStrictEqual(expected);
    expect(end).toBeUndefined();
  });

  it('is broken by an entry that is not authentic', () => {
    const rows = entries(2);
    const isGood = isFirst as typeof ours;
    const { results, end } = endOf(rows, keyAt(2, rows.at(-1)?.link ?? new Uint8Array()), isGood);
    expect(results).toStrictEqual([true, false]);
    expect(end).toBeUndefined();
  });

  it('does not end at a key of another version or with another link', () => {
    const rows = entries(2);
    const link = rows.at(-1)?.link ?? new Uint8Array();
    expect(endOf(rows, keyAt(3, link)).end).toBeUndefined();
    expect(endOf(rows, keyAt(2, rows[0]?.link ?? link)).end).toBeUndefined();
    expect(endOf([], keyAt(0, link)).end).toBeUndefined();
  });
});
