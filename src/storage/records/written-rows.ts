import type { KeyTransition } from '../../keys/ports.js';
import { revisionToRow, type RevisionRow } from './revision.js';
import { keyToRow, type KeyRow } from './key.js';

/** The rows that a change writes, after the row that the key has now. The definition is written out once, for both. */
export function writtenRows(
  { next, revision: audit }: KeyTransition,
  before: KeyRow | undefined,
): { row: KeyRow; entry: RevisionRow } {
  const row = keyToRow(next, new Uint8Array());
  const entry = revisionToRow(audit, row.definition, before?.history_link ?? null);
  row.history_link = entry.link;
  return { row, entry };
}
