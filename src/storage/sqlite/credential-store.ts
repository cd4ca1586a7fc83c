import type { Database } from 'better-sqlite3';
import type {
  Credential,
  CredentialStore,
  FoundCredential,
  CredentialReplacement,
} from '../../credentials/credential.js';
import type { Authenticity } from '../records/authenticity.js';
import {
  credentialColumns,
  credentialLayouts,
  credentialFromRow,
  credentialToRow as rowOf,
  isSameHash,
  type CredentialRow,
} from '../records/credential.js';
import { createWriteGate, type WriteGate } from './write-gate.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';

type FoundRow = SignedRow<CredentialRow> & Pick<FoundCredential, 'state'>;

/** Credentials in the same SQLite file as the keys. Another process's change is seen by the next look-up. */
export function createCredentialStore(
  database: Database,
  authenticity: Authenticity,
  { read, write }: WriteGate = createWriteGate(database),
): CredentialStore {
  const table = createSignedTable<CredentialRow>(authenticity, 'credentials', credentialLayouts);
  const names = [...credentialColumns, 'mac'] as const;
  const found = `*, CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= ? THEN 'expired' ELSE 'active' END AS state`;
  const nearest = database.prepare<[bigint, Uint8Array], FoundRow>(
    `SELECT ${found} FROM credentials WHERE secret_hash >= ? ORDER BY secret_hash LIMIT 1`,
  );
  const first = database.prepare<[bigint], FoundRow>(`SELECT ${found} FROM credentials ORDER BY secret_hash LIMIT 1`);
  const byID = database.prepare<[string], SignedRow<CredentialRow>>('SELECT * FROM credentials WHERE id = ?');
  const all = database.prepare<[], SignedRow<CredentialRow>>('SELECT * FROM credentials ORDER BY created, id');
  const insert = database.prepare<[SignedRow<CredentialRow>]>(
    `INSERT INTO credentials (${names.join(', ')}) VALUES (${names.map((column) => `@${column}`).join(', ')})`,
  );
  const change = database.prepare<[SignedRow<CredentialRow>]>(
    `UPDATE credentials SET expires = @expires, revoked = @revoked, last_used = @last_used, successor_id = @successor_id,
       mac = @mac WHERE id = @id`,
  );

  function authentic(row: SignedRow<CredentialRow>): CredentialRow {
    if (!table.isAuthentic(row)) throw table.integrityError(`The credential ${row.id}`, row);
    return row;
  }

  function find(id: string): CredentialRow | undefined {
    const row = byID.get(id);
    return row && authentic(row);
  }

  function revokeOne(id: string, at: bigint): boolean {
    const row = find(id);
    if (!row) return false;
    if (row.revoked === null) change.run(table.signed({ ...row, revoked: at }));
    return true;
  }
  function replaceOne(
    id: string,
    decide: (found: Credential | undefined) => CredentialReplacement,
  ): CredentialReplacement {
    const row = find(id);
    const replacement = decide(row && credentialFromRow(row));
    insert.run(table.signed(rowOf(replacement.successor)));
    change.run(table.signed(rowOf(replacement.retired)));
    return replacement;
  }
  function markAll(uses: ReadonlyMap<string, Date>): void {
    for (const [id, at] of uses) {
      const row = find(id);
      const used = BigInt(at.getTime());
      if (row && (row.last_used ?? 0n) < used) change.run(table.signed({ ...row, last_used: used }));
    }
  }

  const active = createActive(database);
  const writeAndForget: WriteGate['write'] = (change) => write(change).finally(active.forget);

  return {
    findBySecretHash: (secretHash, at) =>
      read(() => {
        const now = BigInt(at.getTime());
        const known = active.find(secretHash, now);
        if (known) return foundOf(known, 'active');
        // One that is not there takes as long as one that is: both rows are read, and one checked and compared, in any case.
        const [next, earliest] = [nearest.get(now, secretHash), first.get(now)];
        const row = next ?? earliest;
        if (row === undefined) return undefined;
        const isAuthentic = table.isAuthentic(row);
        if (!isSameHash(row.secret_hash, secretHash)) return undefined;
        if (!isAuthentic) throw table.integrityError(`The credential ${row.id}`, row);
        if (row.state === 'active') active.remember(row);
        return foundOf(row, row.state);
      }),
    add: (credential) =>
      writeAndForget(() => {
        insert.run(table.signed(rowOf(credential)));
      }),
    list: () => read(() => all.all().map((row) => credentialFromRow(authentic(row)))),
    revoke: (id, at) => writeAndForget(() => revokeOne(id, BigInt(at.getTime()))),
    replace: (id, decide) => writeAndForget(() => replaceOne(id, decide)),
    markUsed: (uses) => write(() => markAll(uses)),
    findDamaged: () =>
      read(() =>
        all
          .all()
          .filter((row) => !table.isAuthentic(row))
          .map(({ id }) => id),
      ),
  };
}

const mostRemembered = 1_000;

/**
 * The credentials that opened something since the database was last changed by anybody else. To read one again and to
 * check its signature costs ten times as much as to ask whether there was a change. That is asked once in a turn of the
 * event loop, which is milliseconds. Those that open nothing are not remembered: whoever guesses would learn from the time
 * which of them there are.
 */
function createActive(database: Database) {
  const dataVersion = database.prepare<[], bigint>('PRAGMA data_version').pluck().safeIntegers();
  const rows = new Map<string, CredentialRow>();
  let version: bigint | undefined;
  let isAsked = false;
  const nameOf = (secretHash: Uint8Array) => Buffer.from(secretHash).toString('latin1');

  function forgetChanged(): void {
    if (isAsked) return;
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
    });
    const current = dataVersion.get();
    if (current !== version) rows.clear();
    version = current;
  }

  return {
    find(secretHash: Uint8Array, now: bigint): CredentialRow | undefined {
      forgetChanged();
      const row = rows.get(nameOf(secretHash));
      return row && (row.expires === null || row.expires > now) ? row : undefined;
    },
    remember(row: CredentialRow): void {
      if (rows.size >= mostRemembered) rows.clear();
      rows.set(nameOf(row.secret_hash), row);
    },
    /** For changes of our own, which leave the version as it is. */
    forget: () => rows.clear(),
  };
}

function foundOf({ id, kind, label, org_id: orgID }: CredentialRow, state: FoundCredential['state']): FoundCredential {
  return { id, kind, label, orgID: orgID ?? undefined, state };
}
