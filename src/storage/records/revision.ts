import { createHash, hash } from 'node:crypto';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import type { Definition } from '../../keys/definition/normalize.js';
import { definitionChanges } from '../../keys/key-diff.js';
import type { FieldChange, KeyRevision } from '../../keys/key.js';
import { defineTable, namesOf, type Columns, type RowOf, type SignedRow } from './signed.js';

const linked = {
  at: 'integer',
  key_hash: 'text',
  org_id: 'text',
  operation: 'text',
  credential_id: 'text',
  credential_label: 'text',
  reason: 'text?',
  request_id: 'text',
  version: 'integer',
  quota_used_before_reset: 'integer?',
  changes: 'text?',
} as const satisfies Columns;

const columns = { ...linked, before: 'text?', link: 'bytes' } as const satisfies Columns;

/**
 * The signed values of a history entry. `before` is the definition before the change; NULL for the first entry. `changes` is
 * NULL if they are the fields of the definition after it, all added.
 */
export type RevisionRow = RowOf<typeof columns> & { operation: KeyRevision['operation'] };

/** The table of the history. */
export const revisionTable = defineTable<RevisionRow>('history', columns);

/** A row of the history as it is read. */
export type StoredRevisionRow = SignedRow<RevisionRow> & {
  readonly id: bigint;
  /** The row of its key. */
  readonly key: bigint;
  /** If `changes` is NULL, the definition after it, as far as it was found. Not signed: the link shows whether it is the one. */
  readonly first_definition: string | null;
};

/** All columns that the link covers, besides the definition after the change. */
const linkedColumns = namesOf(linked);

/**
 * The link of a history entry: SHA-256 over the link before it, the definition after the change and all values of the
 * entry's row. The key keeps its newest link, so that no entry can be changed, taken out or added without breaking the chain.
 */
export function linkOf(
  previous: Uint8Array | null,
  row: Omit<RevisionRow, 'link' | 'before'>,
  definition: string,
): Uint8Array {
  // The same text as `stringifyJSON`, faster.
  const values = linkedColumns.map((column) => {
    const value = row[column];
    return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  });
  return createHash('sha256')
    .update(previous ?? new Uint8Array(32))
    .update(hash('sha256', definition, 'buffer'))
    .update(`[${values.join()}]`, 'utf8')
    .digest();
}

/** The state of a key before a change. */
export interface RevisionBase {
  readonly definition: string;
  readonly history_link: Uint8Array;
}

/** The key after a change: its definition, also as JSON. */
interface RevisionResult {
  readonly definition: Definition;
  readonly json: string;
}

/** The row of the entry of a change. */
export function revisionToRow(
  entry: KeyRevision,
  { definition, json }: RevisionResult,
  base: RevisionBase | undefined,
): RevisionRow {
  const row = {
    at: BigInt(entry.at.getTime()),
    key_hash: entry.keyHash,
    org_id: entry.orgID,
    operation: entry.operation,
    credential_id: entry.actor.credentialID,
    credential_label: entry.actor.label,
    reason: entry.reason ?? null,
    request_id: entry.requestID,
    version: BigInt(entry.versionAfter),
    quota_used_before_reset: entry.quotaUsedBeforeReset ?? null,
    changes: !base && entry.versionAfter === 1 && isAddition(entry, definition) ? null : stringifyJSON(entry.changes),
  };
  return { ...row, before: base?.definition ?? null, link: linkOf(base?.history_link ?? null, row, json) };
}

/** Whether the changes add all fields of a definition and nothing else, such as a secret. */
function isAddition({ changes }: KeyRevision, definition: Definition): boolean {
  const fields = Object.values(definition).filter((value) => value !== undefined);
  return changes.length === fields.length && changes.every(({ kind }) => kind === 'ADDED');
}

/** Whether the changes of a row can be read: it has them, or the definition that it was linked with. */
export function hasChanges(row: RevisionRow & Pick<StoredRevisionRow, 'first_definition'>): boolean {
  if (row.changes !== null) return true;
  const { first_definition: definition } = row;
  return definition !== null && Buffer.compare(linkOf(null, row, definition), row.link) === 0;
}

/** Returns the entry of a row that passed its integrity check and has its changes. */
export function revisionFromRow(row: RevisionRow & Pick<StoredRevisionRow, 'first_definition'>): KeyRevision {
  return {
    at: new Date(Number(row.at)),
    keyHash: row.key_hash,
    orgID: row.org_id,
    operation: row.operation,
    actor: { credentialID: row.credential_id, label: row.credential_label },
    reason: row.reason ?? undefined,
    requestID: row.request_id,
    versionBefore: Number(row.version) - 1,
    versionAfter: Number(row.version),
    quotaUsedBeforeReset: row.quota_used_before_reset ?? undefined,
    // Written by us, from this very type.
    changes:
      row.changes === null
        ? definitionChanges({}, parseJSON(row.first_definition ?? '{}') as Definition)
        : (parseJSON(row.changes) as unknown as FieldChange[]),
  };
}
