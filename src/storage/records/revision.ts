import { createHash } from 'node:crypto';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import type { FieldChange, KeyRevision } from '../../keys/key.js';
import { defineTable, namesOf, type Columns, type RowOf } from './signed.js';

const linked = {
  at: 'integer',
  key_hash: 'text',
  org_id: 'text',
  operation: 'text',
  credential_id: 'text',
  credential_label: 'text',
  reason: 'text?',
  request_id: 'text',
  version_before: 'integer',
  version_after: 'integer',
  quota_used_before_reset: 'integer?',
  changes: 'text',
  definition: 'text',
} as const satisfies Columns;

const columns = { ...linked, link: 'bytes' } as const satisfies Columns;

/** A row of the history. */
export type RevisionRow = RowOf<typeof columns> & { operation: KeyRevision['operation'] };

/** The table of the history. */
export const revisionTable = defineTable<RevisionRow>('audit', columns);

/** All columns that the link covers. */
export const linkedColumns = namesOf(linked);

/**
 * The link of a history entry: SHA-256 over the link before it and all values of the entry's row. The key keeps
 * its newest link, so that no entry can be changed, taken out or added without breaking the chain.
 */
export function linkOf(previous: Uint8Array | null, row: Omit<RevisionRow, 'link'>): Uint8Array {
  // The same text as `stringifyJSON`, faster.
  const values = linkedColumns.map((column) => {
    const value = row[column];
    return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  });
  return createHash('sha256')
    .update(previous ?? new Uint8Array(32))
    .update(`[${values.join()}]`, 'utf8')
    .digest();
}

/** The row of an entry; `definition` is the key's own after it, as JSON. */
export function revisionToRow(entry: KeyRevision, definition: string, previous: Uint8Array | null): RevisionRow {
  const row = {
    at: BigInt(entry.at.getTime()),
    key_hash: entry.keyHash,
    org_id: entry.orgID,
    operation: entry.operation,
    credential_id: entry.actor.credentialID,
    credential_label: entry.actor.label,
    reason: entry.reason ?? null,
    request_id: entry.requestID,
    version_before: BigInt(entry.versionBefore),
    version_after: BigInt(entry.versionAfter),
    quota_used_before_reset: entry.quotaUsedBeforeReset ?? null,
    changes: stringifyJSON(entry.changes),
    definition,
  };
  return { ...row, link: linkOf(previous, row) };
}

/** Returns the entry of a row that passed its integrity check. */
export function revisionFromRow(row: RevisionRow): KeyRevision {
  return {
    at: new Date(Number(row.at)),
    keyHash: row.key_hash,
    orgID: row.org_id,
    operation: row.operation,
    actor: { credentialID: row.credential_id, label: row.credential_label },
    reason: row.reason ?? undefined,
    requestID: row.request_id,
    versionBefore: Number(row.version_before),
    versionAfter: Number(row.version_after),
    quotaUsedBeforeReset: row.quota_used_before_reset ?? undefined,
    // Written by us, from this very type.
    changes: parseJSON(row.changes) as unknown as FieldChange[],
  };
}
