import type { Change } from '../../keys/store.js';
import { auditRowOf, type AuditRow } from './revision.js';
import { rowOf, type KeyRow } from './key.js';

/** The rows that a change writes, after the row that the key has now. The definition is written out once, for both. */
export function writtenRows({ next, audit }: Change, before: KeyRow | undefined): { row: KeyRow; entry: AuditRow } {
  const row = rowOf(next, new Uint8Array());
  const entry = auditRowOf(audit, row.definition, before?.history_link ?? null);
  row.history_link = entry.link;
  return { row, entry };
}
