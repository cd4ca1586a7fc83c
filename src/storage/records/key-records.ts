import { createHash, hash } from 'node:crypto';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { definitionFromJSON } from '../../keys/definition/from-json.js';
import type { Definition } from '../../keys/definition/normalize.js';
import { definitionChanges } from '../../keys/key-diff.js';
import type {
  AppliedProposal,
  FieldChange,
  KeyIdentifiers,
  KeyRevision,
  RetiringIdentifier,
  StoredKey,
} from '../../keys/key.js';
import type { KeyTransition } from '../../keys/ports.js';
import type { QuotaChange } from '../../keys/quota/quota-change.js';
import { actorFromText, actorToText } from './actor-text.js';
import { dateOf, defineTable, millisecondsOf, namesOf, type Columns, type RowOf, type SignedRow } from './signed.js';

const keyColumns = {
  key_hash: 'text',
  identity: 'bytes',
  sealed_key_id: 'bytes',
  org_id: 'text',
  version: 'integer',
  created: 'integer?',
  date_created: 'text?',
  last_updated: 'integer',
  deleted: 'integer?',
  definition: 'text',
  alias: 'text',
  expires: 'integer',
  is_inactive: 'integer',
  password_hash: 'text?',
  jwt_secret: 'bytes?',
  hmac_string: 'bytes?',
  quota_used: 'integer',
  quota_renews: 'integer?',
  history_link: 'bytes',
} as const satisfies Columns;

/** Layout 2 has the identifiers of a rotated key, as JSON. */
const rotatedKeyColumns = { ...keyColumns, identifiers: 'text?' } as const satisfies Columns;

/** The signed values of a key. */
export type KeyRow = RowOf<typeof rotatedKeyColumns>;

/**
 * A row of the table of keys, with what is not signed: its place and its newest history entry, which find rows, and when the
 * key was last used, which changes without it.
 */
export type StoredKeyRow = SignedRow<KeyRow> & {
  readonly id: bigint;
  readonly head: bigint;
  readonly last_used: bigint;
};

/** The table of keys. */
export const keyTable = defineTable<KeyRow>('keys', keyColumns, rotatedKeyColumns);

/** Returns the key of a row that passed its integrity check. */
export function keyFromRow(row: KeyRow): StoredKey {
  return {
    keyHash: row.key_hash,
    identity: Buffer.from(row.identity).toString('hex'),
    sealedKeyID: row.sealed_key_id,
    ...(row.identifiers !== null && { identifiers: identifiersFromText(row.identifiers) }),
    orgID: row.org_id,
    version: Number(row.version),
    dateCreated: row.date_created ?? new Date(Number(row.created)).toISOString(),
    lastUpdated: row.last_updated,
    deleted: dateOf(row.deleted),
    definition: definitionFromJSON(parseJSON(row.definition)),
    secrets: {
      passwordHash: row.password_hash ?? undefined,
      jwtSecret: row.jwt_secret ?? undefined,
      hmacString: row.hmac_string ?? undefined,
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}

/** The date of creation in milliseconds; a date that has more digits, from another system, as it is. */
function creationOf({ dateCreated }: StoredKey): Pick<KeyRow, 'created' | 'date_created'> {
  const date = new Date(dateCreated);
  const isExact = !Number.isNaN(date.getTime()) && date.toISOString() === dateCreated;
  return isExact
    ? { created: BigInt(date.getTime()), date_created: null }
    : { created: null, date_created: dateCreated };
}

/** Returns the row of a key. */
export function keyToRow(key: StoredKey, historyLink: Uint8Array): KeyRow {
  return {
    key_hash: key.keyHash,
    identity: Buffer.from(key.identity, 'hex'),
    sealed_key_id: key.sealedKeyID,
    org_id: key.orgID,
    version: BigInt(key.version),
    ...creationOf(key),
    last_updated: key.lastUpdated,
    deleted: millisecondsOf(key.deleted),
    definition: stringifyJSON(key.definition),
    alias: key.definition.alias ?? '',
    expires: key.definition.expires ?? 0n,
    is_inactive: key.definition.isInactive === true ? 1n : 0n,
    password_hash: key.secrets.passwordHash ?? null,
    jwt_secret: key.secrets.jwtSecret ?? null,
    hmac_string: key.secrets.hmacString ?? null,
    quota_used: key.quota.used,
    quota_renews: key.quota.renews ?? null,
    history_link: historyLink,
    identifiers: key.identifiers ? identifiersToText(key.identifiers) : null,
  };
}

/** The text of the identifiers of a key in its row. */
interface StoredIdentifiers {
  readonly current: string;
  readonly retiring?: {
    readonly keyHash: string;
    readonly sealed: string;
    readonly retiresAt: number;
    /** In seconds, with the time from which on. */
    readonly silence?: { readonly seconds: number; readonly since: number };
  };
}

function identifiersToText({ current, retiring }: KeyIdentifiers): string {
  const stored: StoredIdentifiers = {
    current,
    ...(retiring && {
      retiring: {
        keyHash: retiring.keyHash,
        sealed: Buffer.from(retiring.sealedKeyID).toString('base64'),
        retiresAt: retiring.retiresAt.getTime(),
        ...(retiring.silence && {
          silence: { seconds: retiring.silence.seconds, since: retiring.silence.since.getTime() },
        }),
      },
    }),
  };
  return stringifyJSON(stored);
}

function identifiersFromText(text: string): KeyIdentifiers {
  // Written by us, from this very type.
  const { current, retiring } = parseJSON(text) as unknown as StoredIdentifiers;
  if (!retiring) return { current };
  const { keyHash, sealed, retiresAt, silence } = retiring;
  return {
    current,
    retiring: {
      keyHash,
      sealedKeyID: Buffer.from(sealed, 'base64'),
      retiresAt: new Date(retiresAt),
      ...(silence && { silence: { seconds: silence.seconds, since: new Date(silence.since) } }),
    },
  };
}

/** A row of the table `identifiers`, which finds a rotated key by its identifiers. Not signed: the row of the key is. */
export interface IdentifierRow {
  readonly keyHash: string;
  /** NULL for the identifier that the key keeps. */
  readonly retires: bigint | null;
  /** Milliseconds without a request after which it retires before its time; NULL if it does not. */
  readonly silence: bigint | null;
  /** From when on it can be silent, as its last use; NULL if it cannot retire so. */
  readonly since: bigint | null;
}

/** The rows of the identifiers of a key; none of one that was never rotated. */
export function identifierRowsOf({ identifiers }: StoredKey): IdentifierRow[] {
  if (!identifiers) return [];
  const { current, retiring } = identifiers;
  return [
    { keyHash: current, retires: null, silence: null, since: null },
    ...(retiring ? [retiringRowOf(retiring)] : []),
  ];
}

function retiringRowOf({ keyHash, retiresAt, silence }: RetiringIdentifier): IdentifierRow {
  return {
    keyHash,
    retires: BigInt(retiresAt.getTime()),
    silence: silence ? BigInt(silence.seconds) * 1000n : null,
    since: silence ? BigInt(silence.since.getTime()) : null,
  };
}

/** The terms of the index of keys, by what they contain. */
export const term = {
  tag: (tag: string) => `t:${tag}`,
  policy: (policy: string) => `p:${policy}`,
  api: (apiID: string) => `a:${apiID}`,
};

/** The search terms of a key. */
export function termsOf({ definition: { tags, applyPolicies, accessRights } }: StoredKey): Set<string> {
  return new Set([
    ...(tags ?? []).map(term.tag),
    ...(applyPolicies ?? []).map(term.policy),
    // Without an API identifier, the label is the term.
    ...(accessRights ?? []).map(({ apiID, label }) => term.api(apiID ?? label)),
  ]);
}

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

const entryColumns = { ...linked, before: 'text?', link: 'bytes' } as const satisfies Columns;

/** Layout 2 has notices too. */
const noticeColumns = { ...entryColumns, event_id: 'text?', notice: 'text?' } as const satisfies Columns;

/** The proposal that made the change, as JSON; NULL for a direct one. */
const proposedColumns = { ...noticeColumns, proposal: 'text?' } as const satisfies Columns;

/**
 * The signed values of a history entry. `before` is the definition before the change; NULL for the first entry. `changes` is
 * NULL if they are the fields of the definition after it, all added.
 */
export type RevisionRow = RowOf<typeof proposedColumns>;

/** The table of the history. */
export const revisionTable = defineTable<RevisionRow>('history', entryColumns, noticeColumns, proposedColumns);

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
export function linkOf(previous: Uint8Array | null, row: RowOf<typeof linked>, definition: string): Uint8Array {
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

/** The key after a change: its definition, also as JSON. */
interface RevisionResult {
  readonly definition: Definition;
  readonly json: string;
}

/** The text of an operation: its name, and for a revert the version, as in `revert 3`. Signatures and links cover it. */
function operationToText({ operation, revertedTo }: KeyRevision): string {
  return revertedTo === undefined ? operation : `${operation} ${revertedTo}`;
}

function operationFromText(text: string): Pick<KeyRevision, 'operation' | 'revertedTo'> {
  const [name = '', version] = text.split(' ');
  // The signature covers that it is no notice.
  const operation = name as KeyRevision['operation'];
  return version === undefined ? { operation } : { operation, revertedTo: Number(version) };
}

/** The row of the entry of a change. */
export function revisionToRow(
  entry: KeyRevision,
  { definition, json }: RevisionResult,
  base: Pick<KeyRow, 'definition' | 'history_link'> | undefined,
): RevisionRow {
  const row = {
    at: BigInt(entry.at.getTime()),
    key_hash: entry.keyHash,
    org_id: entry.orgID,
    operation: operationToText(entry),
    credential_id: entry.actor.credentialID,
    credential_label: actorToText(entry.actor),
    reason: entry.reason ?? null,
    request_id: entry.requestID,
    version: BigInt(entry.versionAfter),
    quota_used_before_reset: entry.quotaUsedBeforeReset ?? null,
    changes: !base && entry.versionAfter === 1 && isAddition(entry, definition) ? null : stringifyJSON(entry.changes),
  };
  const link = linkOf(base?.history_link ?? null, row, json);
  return {
    ...row,
    before: base?.definition ?? null,
    link,
    event_id: null,
    notice: null,
    proposal: entry.proposal ? stringifyJSON(entry.proposal) : null,
  };
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
    ...operationFromText(row.operation),
    actor: { credentialID: row.credential_id, ...actorFromText(row.credential_label) },
    ...(row.proposal !== null && { proposal: parseJSON(row.proposal) as unknown as AppliedProposal }),
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

const quotaChangeColumns = {
  key_hash: 'bytes',
  identity: 'bytes',
  last_updated: 'integer',
  at: 'integer',
  is_reset: 'integer',
  period_before: 'integer',
  period_after: 'integer',
} as const satisfies Columns;

/** A row of the outbox of quota changes. */
export type QuotaChangeRow = RowOf<typeof quotaChangeColumns>;

/** The table of the outbox. */
export const quotaChangeTable = defineTable<QuotaChangeRow>('quota_changes', quotaChangeColumns);

/** Returns the row of a change. */
function quotaChangeToRow(change: QuotaChange): QuotaChangeRow {
  return {
    key_hash: Buffer.from(change.keyHash, 'hex'),
    identity: Buffer.from(change.identity, 'hex'),
    last_updated: change.lastUpdated,
    at: BigInt(change.at.getTime()),
    is_reset: change.isReset ? 1n : 0n,
    period_before: change.periodBefore,
    period_after: change.periodAfter,
  };
}

/** Returns the change of a row that passed its integrity check. */
export function quotaChangeFromRow(row: QuotaChangeRow): QuotaChange {
  return {
    keyHash: Buffer.from(row.key_hash).toString('hex'),
    identity: Buffer.from(row.identity).toString('hex'),
    lastUpdated: row.last_updated,
    at: new Date(Number(row.at)),
    isReset: row.is_reset === 1n,
    periodBefore: row.period_before,
    periodAfter: row.period_after,
  };
}

/** The rows of a change, not yet signed. */
interface ChangeRows {
  readonly key: KeyRow;
  readonly entry: RevisionRow;
  readonly quotaChange: QuotaChangeRow | undefined;
}

/** Returns the rows of a change of the key that has the row `before`, if any. Its entry continues the history of that row. */
export function changeToRows(
  { next, revision, quotaChange }: KeyTransition,
  before: Pick<KeyRow, 'definition' | 'history_link'> | undefined,
): ChangeRows {
  const key = keyToRow(next, new Uint8Array());
  const entry = revisionToRow(revision, { definition: next.definition, json: key.definition }, before);
  key.history_link = entry.link;
  return { key, entry, quotaChange: quotaChange && quotaChangeToRow(quotaChange) };
}
