import type { StoredKey } from '../keys/key.js';
import type { KeyTransition } from '../keys/ports.js';
import type { RevisionRow } from './records/revision.js';
import { keyFromRow, type KeyRow } from './records/key.js';
import type { SignedRow } from './records/signed.js';
import type { TimeSlices } from './time-slices.js';
import { writtenRows } from './records/written-rows.js';

/** A change that has been applied to a row, with the rows that it writes. */
export interface PreparedChange {
  readonly before: SignedRow<KeyRow> | undefined;
  readonly stored: StoredKey | undefined;
  readonly change: KeyTransition;
  readonly row: SignedRow<KeyRow>;
  readonly entry: SignedRow<RevisionRow>;
}

interface PreparedChangeDeps {
  readonly signedKey: (row: KeyRow) => SignedRow<KeyRow>;
  readonly signedEntry: (row: RevisionRow) => SignedRow<RevisionRow>;
  readonly slices: TimeSlices;
}

type ApplyChange = (stored: StoredKey | undefined) => KeyTransition | undefined;

/** From this length on, a definition takes milliseconds to parse, to compare, to write and to sign. */
const largeCharacters = 16 * 1024;

/** Whether a change of this row is to be prepared in time slices. */
export const isLarge = (row: KeyRow | undefined): row is KeyRow =>
  row !== undefined && row.definition.length > largeCharacters;

/**
 * Applies changes to rows: at once, or in time slices between which other requests are served. Both return undefined if the
 * change leaves the key as it is.
 */
export function createPreparation({ signedKey, signedEntry, slices }: PreparedChangeDeps) {
  /** Each step takes milliseconds when the definition is large. */
  function* steps(
    before: SignedRow<KeyRow> | undefined,
    apply: ApplyChange,
  ): Generator<undefined, PreparedChange | undefined> {
    const stored = before && keyFromRow(before);
    yield;
    const change = apply(stored);
    if (!change) return undefined;
    yield;
    const { row, entry } = writtenRows(change, before);
    yield;
    return { before, stored, change, row: signedKey(row), entry: signedEntry(entry) };
  }

  function prepare(before: SignedRow<KeyRow> | undefined, apply: ApplyChange): PreparedChange | undefined {
    const work = steps(before, apply);
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  }

  async function prepareInSlices(
    before: SignedRow<KeyRow> | undefined,
    apply: ApplyChange,
  ): Promise<PreparedChange | undefined> {
    const work = steps(before, apply);
    for (;;) {
      const slice = slices.next();
      if (slice) await slice;
      const step = work.next();
      if (step.done) return step.value;
    }
  }

  return { prepare, prepareInSlices };
}
