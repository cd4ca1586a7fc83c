import { timingSafeEqual } from 'node:crypto';
import type { StoredCredential, CredentialKind } from '../../credentials/credential.js';
import { scopes, type Scope } from '../../keys/key.js';
import type { Layouts } from './signed.js';

/** A credential as every engine keeps it. */
export interface CredentialRow {
  id: string;
  kind: CredentialKind;
  label: string;
  secret_hash: Uint8Array;
  last_four: string | null;
  org_id: string | null;
  created: bigint;
  expires: bigint | null;
  revoked: bigint | null;
  last_used: bigint | null;
  successor_id: string | null;
  /** Names separated by commas; null for all. */
  scopes: string | null;
}

const firstColumns = [
  'id',
  'kind',
  'label',
  'secret_hash',
  'last_four',
  'org_id',
  'created',
  'expires',
  'revoked',
  'last_used',
  'successor_id',
] as const satisfies readonly (keyof CredentialRow)[];

/** All of a credential but its signature, which is made over these. */
export const credentialColumns = [...firstColumns, 'scopes'] as const;

/** The layouts that rows of credentials were signed with, the newest last. */
export const credentialLayouts: Layouts<CredentialRow> = [firstColumns, credentialColumns];

/** Compares two hashes in constant time. `timingSafeEqual` throws when the lengths differ. */
export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const dateOf = (milliseconds: bigint | null) => (milliseconds === null ? undefined : new Date(Number(milliseconds)));
const millisecondsOf = (date: Date | undefined) => (date === undefined ? null : BigInt(date.getTime()));

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

/** The scopes of a row. One that this version does not know permits nothing. */
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
