import { timingSafeEqual } from 'node:crypto';
import type { StoredCredential, CredentialKind } from '../../credentials/credential.js';
import { scopes, type Scope } from '../../keys/key.js';
import { dateOf, defineTable, millisecondsOf, namesOf, type Columns, type RowOf } from './signed.js';

const firstColumns = {
  id: 'text',
  kind: 'text',
  label: 'text',
  secret_hash: 'bytes',
  last_four: 'text?',
  org_id: 'text?',
  created: 'integer',
  expires: 'integer?',
  revoked: 'integer?',
  last_used: 'integer?',
  successor_id: 'text?',
} as const satisfies Columns;

const columns = {
  ...firstColumns,
  /** Names separated by commas; null for all. */
  scopes: 'text?',
} as const satisfies Columns;

/** A credential row. */
export type CredentialRow = RowOf<typeof columns> & { kind: CredentialKind };

/** The table of credentials. */
export const credentialTable = defineTable<CredentialRow>('credentials', firstColumns, columns);

/** All columns of a credential but its signature. */
export const credentialColumns = namesOf(columns);

/** Compares two hashes in constant time. `timingSafeEqual` throws when the lengths differ. */
export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns the credential of a row that passed its integrity check. */
export function credentialFromRow(row: CredentialRow): StoredCredential {
  return {
    id: row.id,
    kind: row.kind,
    label: row.label,
    secretHash: row.secret_hash,
    lastFour: row.last_four ?? undefined,
    orgID: row.org_id ?? undefined,
    created: new Date(Number(row.created)),
    expires: dateOf(row.expires),
    revoked: dateOf(row.revoked),
    lastUsed: dateOf(row.last_used),
    successorID: row.successor_id ?? undefined,
    scopes: scopesOf(row),
  };
}

/** The scopes of a row. Unknown scopes permit nothing. */
export function scopesOf({ scopes: names }: Pick<CredentialRow, 'scopes'>): readonly Scope[] | undefined {
  const found = names?.split(',');
  return found && (Object.keys(scopes) as Scope[]).filter((scope) => found.includes(scope));
}

/** Returns the row of a credential. */
export function credentialToRow(credential: StoredCredential): CredentialRow {
  return {
    id: credential.id,
    kind: credential.kind,
    label: credential.label,
    secret_hash: credential.secretHash,
    last_four: credential.lastFour ?? null,
    org_id: credential.orgID ?? null,
    created: BigInt(credential.created.getTime()),
    expires: millisecondsOf(credential.expires),
    revoked: millisecondsOf(credential.revoked),
    last_used: millisecondsOf(credential.lastUsed),
    successor_id: credential.successorID ?? null,
    scopes: credential.scopes?.join(',') ?? null,
  };
}
