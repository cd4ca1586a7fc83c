import { revisionTable } from '../records/revision.js';
import { keyTable } from '../records/key.js';
import { quotaChangeTable } from '../records/quota-change.js';
import type { KeyWrite } from '../sql/keys/key-rows.js';
import { receiptColumns, receiptValues } from '../sql/keys/receipts.js';
import { feedOffset } from '../sql/dialect.js';
import { prepared } from '../sql/session.js';
import { namesOf } from '../records/signed.js';
import type { Session } from './pool.js';
import { unnestRows } from './session.js';

/** The transaction part of the position of entries that are written now. */
const currentPosition = `pg_current_xact_id()::text::bigint + ${feedOffset}`;

const keyNames = keyTable.columnNames;
const entryNames = revisionTable.columnNames;
const quotaNames = quotaChangeTable.columnNames;
const receiptNames = namesOf(receiptColumns);

const input = unnestRows('i', { ...keyTable.columns, mac_before: 'bytes' }, 1);
const entry = unnestRows('e', revisionTable.columns, input.next);
const terms = { added: entry.next, dropped: entry.next + 3 };
const quotaChange = unnestRows('q', quotaChangeTable.columns, terms.dropped + 2);
const receipt = unnestRows('r', { key_hash: 'text', ...receiptColumns }, quotaChange.next);

const assignments = keyNames
  .filter((column) => column !== 'key_hash')
  // An unchanged definition is not sent: it may be large.
  .map((column) => `${column} = ${column === 'definition' ? 'coalesce(i.definition, k.definition)' : `i.${column}`}`);

/**
 * Writes any number of changes in one statement, and so in one transaction and one round trip. Optimistic locking: a key,
 * with all that belongs to it, is written only if its signature is still the one that the change was made from. Rows are
 * locked in the order of their hashes, so that two such statements cannot deadlock.
 */
const writeWith = (more: string) =>
  prepared(
    `WITH input AS MATERIALIZED (SELECT * FROM ${input.sql}),
   held AS MATERIALIZED (
     SELECT key_hash FROM keys WHERE key_hash IN (SELECT key_hash FROM input WHERE mac_before IS NOT NULL)
     ORDER BY key_hash FOR UPDATE
   ),
   written AS (
     UPDATE keys k SET ${assignments.join(', ')} FROM input i
     WHERE k.key_hash = i.key_hash AND k.mac = i.mac_before AND k.key_hash IN (SELECT key_hash FROM held)
     RETURNING k.key_hash
   ),
   created AS (
     INSERT INTO keys (${keyNames.join(', ')})
     SELECT ${keyNames.join(', ')} FROM input WHERE mac_before IS NULL ORDER BY key_hash
     ON CONFLICT (key_hash) DO NOTHING RETURNING key_hash
   ),
   done AS MATERIALIZED (SELECT key_hash FROM written UNION ALL SELECT key_hash FROM created),
   entries AS (
     INSERT INTO audit (${entryNames.join(', ')}, tx)
     SELECT ${entryNames.join(', ')}, greatest(
       (SELECT ${currentPosition}),
       (SELECT tx FROM audit a WHERE a.key_hash = e.key_hash ORDER BY a.version_after DESC LIMIT 1)
     )
     FROM ${entry.sql} WHERE e.key_hash IN (SELECT key_hash FROM done) ORDER BY e.key_hash, e.version_after
   ),
   added AS (
     INSERT INTO key_terms (term, key_hash, org_id)
     SELECT term, key_hash, org_id
     FROM unnest($${terms.added}::text[], $${terms.added + 1}::text[], $${terms.added + 2}::text[]) AS t (term, key_hash, org_id)
     WHERE t.key_hash IN (SELECT key_hash FROM done)
   ),
   dropped AS (
     DELETE FROM key_terms t USING unnest($${terms.dropped}::text[], $${terms.dropped + 1}::text[]) AS d (term, key_hash)
     WHERE t.term = d.term AND t.key_hash = d.key_hash AND d.key_hash IN (SELECT key_hash FROM done)
   )${more}
   SELECT key_hash FROM done`,
  );
const write = writeWith('');
/** Few changes have an outbox entry or a receipt; the others do not send their columns. */
const changes = `, changes AS (
     INSERT INTO quota_changes (${quotaNames.join(', ')})
     SELECT ${quotaNames.join(', ')} FROM ${quotaChange.sql} WHERE q.key_hash IN (SELECT key_hash FROM done)
   )`;
const writeWithQuotas = writeWith(changes);
const writeWithReceipts = writeWith(
  `${changes}, receipts AS (
     INSERT INTO receipts (${receiptNames.join(', ')})
     SELECT ${receiptNames.join(', ')} FROM ${receipt.sql} WHERE r.key_hash IN (SELECT key_hash FROM done)
   )`,
);

/** Returns the hashes of the keys that were written. The others were changed meanwhile. */
export async function writeKeys(session: Session, writes: readonly KeyWrite[]): Promise<ReadonlySet<string>> {
  const ordered = writes.toSorted((a, b) => (a.row.key_hash < b.row.key_hash ? -1 : 1));
  const sent = ordered.map(({ before, row }) => ({
    ...row,
    definition: before?.definition === row.definition ? null : row.definition,
  }));
  const entries = ordered.flatMap((one) => one.entries);
  const added = ordered.flatMap(({ row, addedTerms }) => addedTerms.map((term) => ({ term, row })));
  const dropped = ordered.flatMap(({ row, droppedTerms }) => droppedTerms.map((term) => ({ term, row })));
  const quotaChanges = ordered.flatMap((one) => one.quotaChanges);
  const receipts = ordered.flatMap(({ row, receipts: given }) =>
    given.map((one) => [row.key_hash, ...receiptValues(one)] as const),
  );
  const hasQuotas = quotaChanges.length > 0 || receipts.length > 0;
  const statement = receipts.length > 0 ? writeWithReceipts : hasQuotas ? writeWithQuotas : write;
  const done = await session.write<{ key_hash: string }>(statement, [
    ...keyNames.map((column) => sent.map((row) => row[column])),
    ordered.map(({ before }) => before?.mac ?? null),
    ...entryNames.map((column) => entries.map((row) => row[column])),
    added.map(({ term }) => term),
    added.map(({ row }) => row.key_hash),
    added.map(({ row }) => row.org_id),
    dropped.map(({ term }) => term),
    dropped.map(({ row }) => row.key_hash),
    ...(hasQuotas ? quotaNames.map((column) => quotaChanges.map((row) => row[column])) : []),
    ...(receipts.length > 0
      ? ['key_hash', ...receiptNames].map((_, index) => receipts.map((values) => values[index]))
      : []),
  ]);
  return new Set(done.map(({ key_hash }) => key_hash));
}
