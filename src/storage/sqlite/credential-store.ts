import type { Database } from 'better-sqlite3';
import type { Credential, CredentialKind, CredentialStore } from '../../credential.js';
import { whenFree } from './busy.js';

interface CredentialRow {
  id: string;
  kind: CredentialKind;
  label: string;
  secret_hash: Uint8Array;
  org_id: string | null;
  created: bigint;
  expires: bigint | null;
  revoked: bigint | null;
}

/** Credentials in the same SQLite file as the keys. Another process's change is seen by the next look-up. */
export function createCredentialStore(database: Database): CredentialStore {
  const find = database.prepare<[Uint8Array], CredentialRow>('SELECT * FROM credentials WHERE secret_hash = ?');
  const all = database.prepare<[], CredentialRow>('SELECT * FROM credentials ORDER BY created, id');
  const insert = database.prepare<[CredentialRow]>(
    `INSERT INTO credentials (id, kind, label, secret_hash, org_id, created, expires, revoked)
     VALUES (@id, @kind, @label, @secret_hash, @org_id, @created, @expires, @revoked)`,
  );
  const revoke = database.prepare<[bigint, string]>(
    'UPDATE credentials SET revoked = coalesce(revoked, ?) WHERE id = ?',
  );

  return {
    findBySecretHash: (secretHash) =>
      whenFree(() => {
        const row = find.get(secretHash);
        return row && credentialOf(row);
      }),
    add: (credential) =>
      whenFree(() => {
        insert.run(rowOf(credential));
      }),
    list: () => whenFree(() => all.all().map(credentialOf)),
    revoke: (id, at) => whenFree(() => revoke.run(BigInt(at.getTime()), id).changes === 1),
  };
}

const dateOf = (milliseconds: bigint | null) => (milliseconds === null ? undefined : new Date(Number(milliseconds)));
const millisecondsOf = (date: Date | undefined) => (date === undefined ? null : BigInt(date.getTime()));

function credentialOf(row: CredentialRow): Credential {
  return {
    id: row.id,
    kind: row.kind,
    label: row.label,
    secretHash: row.secret_hash,
    orgID: row.org_id ?? undefined,
    created: new Date(Number(row.created)),
    expires: dateOf(row.expires),
    revoked: dateOf(row.revoked),
  };
}

function rowOf(credential: Credential): CredentialRow {
  return {
    id: credential.id,
    kind: credential.kind,
    label: credential.label,
    secret_hash: credential.secretHash,
    org_id: credential.orgID ?? null,
    created: BigInt(credential.created.getTime()),
    expires: millisecondsOf(credential.expires),
    revoked: millisecondsOf(credential.revoked),
  };
}
