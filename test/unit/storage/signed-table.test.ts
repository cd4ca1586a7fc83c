import { describe, expect, it } from 'vitest';
import { createSignedTable, defineTable, type SignedRow } from '../../../src/storage/records/signed.js';
import { signer } from '../../support/signer.js';

interface OldRow {
  id: string;
  count: bigint;
}

interface NewRow extends OldRow {
  note: string | null;
}

const first = { id: 'text', count: 'integer' } as const;
const second = { ...first, note: 'text?' } as const;
const older = createSignedTable(signer, defineTable<OldRow>('things', first));
const newer = createSignedTable(signer, defineTable<NewRow>('things', first, second));

const row: OldRow = { id: 'a', count: 1n };
/** A row of the older version in a table to which the newer one has added its column. */
const migrated: SignedRow<NewRow> = { ...older.signed(row), note: null };

describe('a signed table with two layouts', () => {
  it('verifies rows of both layouts', () => {
    expect(newer.isAuthentic(migrated)).toBe(true);
    for (const note of [null, 'text']) expect(newer.isAuthentic(newer.signed({ ...row, note }))).toBe(true);
  });

  it('signs a row without new values in the first layout, which the older version verifies', () => {
    const signed = newer.signed({ ...row, note: null });
    expect([signed.mac[0], older.isAuthentic(signed)]).toEqual([1, true]);
    expect(newer.signed({ ...row, note: 'text' }).mac[0]).toBe(2);
  });

  it('rejects a value in a column that the layout of the row does not cover', () => {
    expect(newer.isAuthentic({ ...migrated, note: 'added by another program' })).toBe(false);
  });

  it('rejects a changed column in either layout', () => {
    expect(newer.isAuthentic({ ...migrated, count: 2n })).toBe(false);
    expect(newer.isAuthentic({ ...newer.signed({ ...row, note: 'text' }), note: 'other' })).toBe(false);
  });

  it('rejects a signature under the number of another layout', () => {
    const { mac } = newer.signed({ ...row, note: 'text' });
    for (const layout of [0, 1, 3, 255]) {
      const relabelled = { ...row, note: 'text', mac: Uint8Array.from([layout, ...mac.subarray(1)]) };
      expect(newer.isAuthentic(relabelled)).toBe(false);
    }
    expect(newer.isAuthentic({ ...migrated, mac: Uint8Array.from([2, ...migrated.mac.subarray(1)]) })).toBe(false);
  });
});

describe('a signed table that knows the first of two layouts', () => {
  it('rejects a row of the second and names a newer version as the cause', () => {
    const unknown = newer.signed({ ...row, note: 'text' });
    expect(older.isAuthentic(unknown)).toBe(false);
    expect(older.integrityError('The thing a', older.signed(row), unknown)).toMatchObject({
      code: 'INTERNAL',
      message:
        'The thing a has row layout 2, and this Keyfront supports up to 1: a newer version wrote it, or it is damaged.',
    });
  });

  it('reports any other row that is not authentic as damaged', () => {
    const damaged = { ...older.signed(row), count: 2n };
    const without = { ...row, mac: null as unknown as Uint8Array };
    for (const one of [damaged, without, { ...row, mac: Uint8Array.of() }]) {
      expect(older.isAuthentic(one)).toBe(false);
      expect(older.integrityError('The thing a', one).message).toBe(
        'The thing a failed its integrity check; run `keyfront check` for details.',
      );
    }
  });
});
