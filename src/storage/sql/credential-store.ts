import type { CredentialStore, FoundCredential } from '../../credentials/credential.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import {
  credentialColumns,
  credentialFromRow,
  credentialLayouts,
  credentialToRow,
  isSameHash,
  scopesOf,
  type CredentialRow,
} from '../records/credential.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { isBindableText, type Dialect } from './dialect.js';
import { insertInto, prepared, query, updateByID, valuesOf, type SqlSession, type Work } from './session.js';

/** Rows of active credentials that this process has found, while no row of theirs can have changed. */
export interface CredentialCache {
  readonly find: (secretHash: Uint8Array, now: bigint) => CredentialRow | undefined;
  /** Changes with every `clear`: a row that was read before must not be added after it. */
  readonly generation: () => number;
  readonly add: (row: CredentialRow, generation: number) => void;
  /** For changes by this process. */
  readonly clear: () => void;
}

type FoundRow = SignedRow<CredentialRow> & Pick<FoundCredential, 'state'>;

const columns = [...credentialColumns, 'mac'] as const;
const changing = ['id', 'expires', 'revoked', 'last_used', 'successor_id', 'mac'] as const;

const statements = ({ inList, forUpdate }: Dialect) => {
  const withState = `*, CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= $1 THEN 'expired' ELSE 'active' END AS state`;
  return {
    // Two rows are read for every hash, so that one that does not exist takes as long as one that does.
    nearest: prepared(
      `SELECT * FROM (SELECT ${withState} FROM credentials WHERE secret_hash >= $2 ORDER BY secret_hash LIMIT 1) AS nearest
       UNION ALL SELECT * FROM (SELECT ${withState} FROM credentials ORDER BY secret_hash LIMIT 1) AS first`,
    ),
    all: prepared('SELECT * FROM credentials ORDER BY created, id'),
    byIDs: prepared(`SELECT * FROM credentials WHERE id ${inList('$1', 'text')} ORDER BY id ${forUpdate}`),
    insert: prepared(insertInto('credentials', columns)),
    update: prepared(updateByID('credentials', changing)),
  };
};

/** Credentials in the database of the keys. A change by another process is seen by the next look-up. */
export function createCredentialStore(
  { dialect, all, run, transaction }: SqlSession,
  signer: RowSigner,
  cache?: CredentialCache,
): CredentialStore {
  const sql = statements(dialect);
  const table = createSignedTable<CredentialRow>(signer, 'credentials', credentialLayouts);

  function verified(row: SignedRow<CredentialRow>): CredentialRow {
    if (!table.isAuthentic(row)) throw table.integrityError(`The credential ${row.id}`, row);
    return row;
  }
  const allRows = () => all<SignedRow<CredentialRow>>(sql.all);

  function* find(ids: readonly string[]): Work<CredentialRow[]> {
    const rows = yield* query<SignedRow<CredentialRow>>(sql.byIDs, [ids.filter(isBindableText)]);
    return rows.map(verified);
  }

  function* update(row: CredentialRow): Work<void> {
    yield* query(sql.update, valuesOf(table.signed(row), changing));
  }

  const change = <T>(work: () => Work<T>): Promise<T> => transaction(work).finally(() => cache?.clear());

  return {
    async findBySecretHash(secretHash, at) {
      const now = BigInt(at.getTime());
      const cached = cache?.find(secretHash, now);
      if (cached) return foundCredential(cached, 'active');
      const generation = cache?.generation() ?? 0;
      const [row] = await all<FoundRow>(sql.nearest, [now, secretHash]);
      if (row === undefined) return undefined;
      const isAuthentic = table.isAuthentic(row);
      if (!isSameHash(row.secret_hash, secretHash)) return undefined;
      if (!isAuthentic) throw table.integrityError(`The credential ${row.id}`, row);
      if (row.state === 'active') cache?.add(row, generation);
      return foundCredential(row, row.state);
    },
    add: async (credential) => {
      await run(sql.insert, valuesOf(table.signed(credentialToRow(credential)), columns)).finally(() => cache?.clear());
    },
    list: async () => (await allRows()).map((row) => credentialFromRow(verified(row))),
    revoke: (id, at) =>
      change(function* () {
        const [row] = yield* find([id]);
        if (row?.revoked === null) yield* update({ ...row, revoked: BigInt(at.getTime()) });
        return row !== undefined;
      }),
    replace: (id, decide) =>
      change(function* () {
        const [row] = yield* find([id]);
        const replacement = decide(row && credentialFromRow(row));
        const successor = table.signed(credentialToRow(replacement.successor));
        yield* query(sql.insert, valuesOf(successor, columns));
        yield* update(credentialToRow(replacement.retired));
        return replacement;
      }),
    markUsed: (uses) =>
      transaction(function* () {
        for (const row of yield* find([...uses.keys()])) {
          const lastUsed = BigInt(uses.get(row.id)?.getTime() ?? 0);
          if ((row.last_used ?? 0n) < lastUsed) yield* update({ ...row, last_used: lastUsed });
        }
      }),
    findDamaged: async () => (await allRows()).filter((row) => !table.isAuthentic(row)).map(({ id }) => id),
  };
}

function foundCredential(
  { id, kind, label, org_id: orgID, scopes }: CredentialRow,
  state: FoundCredential['state'],
): FoundCredential {
  return { id, kind, label, orgID: orgID ?? undefined, scopes: scopesOf({ scopes }), state };
}
