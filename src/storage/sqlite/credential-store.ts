import { timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Credential, CredentialKind, CredentialStore, FoundCredential, Replacement } from '../../credential.js';
import { whenFree } from './busy.js';

interface CredentialRow {
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
}

type FoundRow = Pick<CredentialRow, 'id' | 'kind' | 'label' | 'org_id' | 'secret_hash'> &
  Pick<FoundCredential, 'state'>;

/** Credentials in the same SQLite file as the keys. Another process's change is seen by the next look-up. */
export function createCredentialStore(database: Database): CredentialStore {
  const shown = `id, kind, label, org_id, secret_hash,
    CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= ? THEN 'expired' ELSE 'active' END AS state`;
  const nearest = database.prepare<[bigint, Uint8Array], FoundRow>(
    `SELECT ${shown} FROM credentials WHERE secret_hash >= ? ORDER BY secret_hash LIMIT 1`,
  );
  const first = database.prepare<[bigint], FoundRow>(`SELECT ${shown} FROM credentials ORDER BY secret_hash LIMIT 1`);
  const findByID = database.prepare<[string], CredentialRow>('SELECT * FROM credentials WHERE id = ?');
  const all = database.prepare<[], CredentialRow>('SELECT * FROM credentials ORDER BY created, id');
  const insert = database.prepare<[CredentialRow]>(
    `INSERT INTO credentials
       (id, kind, label, secret_hash, last_four, org_id, created, expires, revoked, last_used, successor_id)
     VALUES
       (@id, @kind, @label, @secret_hash, @last_four, @org_id, @created, @expires, @revoked, @last_used, @successor_id)`,
  );
  const revoke = database.prepare<[bigint, string]>(
    'UPDATE credentials SET revoked = coalesce(revoked, ?) WHERE id = ?',
  );
  const retire = database.prepare<[CredentialRow]>(
    'UPDATE credentials SET expires = @expires, revoked = @revoked, successor_id = @successor_id WHERE id = @id',
  );
  const use = database.prepare<[bigint, string]>(
    'UPDATE credentials SET last_used = max(coalesce(last_used, 0), ?) WHERE id = ?',
  );

  const replace = database.transaction((id: string, change: (found: Credential | undefined) => Replacement) => {
    const row = findByID.get(id);
    const replacement = change(row && credentialOf(row));
    insert.run(rowOf(replacement.successor));
    retire.run(rowOf(replacement.retired));
    return replacement;
  });
  const markUsed = database.transaction((uses: ReadonlyMap<string, Date>) => {
    for (const [id, at] of uses) use.run(BigInt(at.getTime()), id);
  });

  return {
    findBySecretHash: (secretHash, at) =>
      whenFree(() => {
        const now = BigInt(at.getTime());
        // One that is not there takes as long as one that is: both rows are read, and one compared, in any case.
        const candidates = [nearest.get(now, secretHash), first.get(now)];
        const row = candidates[0] ?? candidates[1];
        if (row === undefined) return undefined;
        const { id, kind, label, org_id, state } = row;
        const found = { id, kind, label, orgID: org_id ?? undefined, state };
        return isSame(row.secret_hash, secretHash) ? found : undefined;
      }),
    add: (credential) =>
      whenFree(() => {
        insert.run(rowOf(credential));
      }),
    list: () => whenFree(() => all.all().map(credentialOf)),
    revoke: (id, at) => whenFree(() => revoke.run(BigInt(at.getTime()), id).changes === 1),
    replace: (id, change) => whenFree(() => replace.immediate(id, change)),
    markUsed: (uses) => whenFree(() => markUsed.immediate(uses)),
  };
}

/** `timingSafeEqual` throws where the lengths differ. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const dateOf = (milliseconds: bigint | null) => (milliseconds === null ? undefined : new Date(Number(milliseconds)));
const millisecondsOf = (date: Date | undefined) => (date === undefined ? null : BigInt(date.getTime()));

function credentialOf(row: CredentialRow): Credential {
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
  };
}

function rowOf(credential: Credential): CredentialRow {
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
  };
}
