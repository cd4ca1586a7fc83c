import type { Database } from 'better-sqlite3';
import type { Credential, CredentialKind, CredentialStore } from '../../credential.js';
import type { Authenticity } from '../authenticity.js';
import { createGuard, type Guard } from './guard.js';
import { createSignedTable, damaged, type Signed } from './signed-table.js';

export interface CredentialRow {
  id: string;
  kind: CredentialKind;
  label: string;
  secret_hash: Uint8Array;
  org_id: string | null;
  created: bigint;
  expires: bigint | null;
  revoked: bigint | null;
}

/** All of a credential but its signature, which is made over these. */
export const credentialColumns = [
  'id',
  'kind',
  'label',
  'secret_hash',
  'org_id',
  'created',
  'expires',
  'revoked',
] as const satisfies readonly (keyof CredentialRow)[];

/** Credentials in the same SQLite file as the keys. Another process's change is seen by the next look-up. */
export function createCredentialStore(
  database: Database,
  authenticity: Authenticity,
  { read, write }: Guard = createGuard(database),
): CredentialStore {
  const table = createSignedTable<CredentialRow>(authenticity, 'credentials', credentialColumns);
  const names = [...credentialColumns, 'mac'];
  const bySecretHash = database.prepare<[Uint8Array], Signed<CredentialRow>>(
    'SELECT * FROM credentials WHERE secret_hash = ?',
  );
  const byID = database.prepare<[string], Signed<CredentialRow>>('SELECT * FROM credentials WHERE id = ?');
  const all = database.prepare<[], Signed<CredentialRow>>('SELECT * FROM credentials ORDER BY created, id');
  const insert = database.prepare<[Signed<CredentialRow>]>(
    `INSERT INTO credentials (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const revoke = database.prepare<[Signed<CredentialRow>]>(
    'UPDATE credentials SET revoked = @revoked, mac = @mac WHERE id = @id',
  );

  function authentic(row: Signed<CredentialRow>): CredentialRow {
    if (!table.isAuthentic(row)) throw damaged(`The credential ${row.id}`);
    return row;
  }

  const revokeOne = database.transaction((id: string, at: bigint) => {
    const found = byID.get(id);
    if (!found) return false;
    const row = authentic(found);
    if (row.revoked === null) revoke.run(table.signed({ ...row, revoked: at }));
    return true;
  });

  return {
    findBySecretHash: (secretHash) =>
      read(() => {
        const row = bySecretHash.get(secretHash);
        return row && credentialOf(authentic(row));
      }),
    add: (credential) =>
      write(() => {
        insert.run(table.signed(rowOf(credential)));
      }),
    list: () => read(() => all.all().map((row) => credentialOf(authentic(row)))),
    revoke: (id, at) => write(() => revokeOne.immediate(id, BigInt(at.getTime()))),
    damaged: () =>
      read(() =>
        all
          .all()
          .filter((row) => !table.isAuthentic(row))
          .map(({ id }) => id),
      ),
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
