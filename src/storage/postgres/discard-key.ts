import type { Discarded } from '../../keys/ports.js';
import type { KeyRow } from '../records/key.js';
import type { SignedRow, SignedTable } from '../records/signed.js';
import type { Session } from './pool.js';

/** Removes a damaged key and all that belongs to it, within a transaction. */
export async function discardKey(session: Session, table: SignedTable<KeyRow>, keyHash: string): Promise<Discarded> {
  const [row] = await session.query<SignedRow<KeyRow>>('SELECT * FROM keys WHERE key_hash = $1 FOR UPDATE', [keyHash]);
  if (row && table.isAuthentic(row)) return 'intact';
  const history = await session.query('SELECT 1 FROM audit WHERE key_hash = $1 LIMIT 1', [keyHash]);
  if (!row && history.length === 0) return 'absent';
  for (const name of ['key_terms', 'audit', 'quota_changes', 'keys']) {
    await session.write(`DELETE FROM ${name} WHERE key_hash = $1`, [keyHash]);
  }
  return 'discarded';
}
