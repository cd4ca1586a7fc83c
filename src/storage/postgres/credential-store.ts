import { AppError } from '../../lib/errors.js';
import type { CredentialStore, FoundCredential } from '../../credentials/credential.js';
import type { Authenticity } from '../records/authenticity.js';
import {
  credentialColumns,
  credentialLayouts,
  credentialFromRow,
  credentialToRow,
  isSameHash,
  type CredentialRow,
} from '../records/credential.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { typeOf } from './columns.js';
import { prepared, type PgPool, type Session } from './pool.js';
import { isValidPgText } from './sought.js';

type FoundRow = SignedRow<CredentialRow> & Pick<FoundCredential, 'state'>;

const names = [...credentialColumns, 'mac'] as const;
const found = `*, CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= $1 THEN 'expired' ELSE 'active' END AS state`;
// One that is not there takes as long as one that is: both rows are read in any case.
const nearest = prepared(
  `(SELECT ${found} FROM credentials WHERE secret_hash >= $2 ORDER BY secret_hash LIMIT 1)
   UNION ALL (SELECT ${found} FROM credentials ORDER BY secret_hash LIMIT 1)`,
);
const byIDs = prepared('SELECT * FROM credentials WHERE id = ANY ($1::text[])');
const all = prepared('SELECT * FROM credentials ORDER BY created, id');
const insert = `INSERT INTO credentials (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`;
/** What may change of a credential, where it is still the one that was read. */
const change = `UPDATE credentials SET expires = $1, revoked = $2, last_used = $3, successor_id = $4, mac = $5
  WHERE id = $6 AND mac = $7 RETURNING id`;
const insertOne = prepared(insert);
const changeOne = prepared(change);
const replaceOne = prepared(
  `WITH retired AS (${change}) INSERT INTO credentials (${names.join(', ')})
   SELECT ${names.map((column, index) => `$${index + 8}::${typeOf(column)}`).join(', ')} FROM retired RETURNING id`,
);
const mostTurns = 10;

/** Credentials in the same database as the keys. Another process's change is seen by the next look-up. */
export function createCredentialStore({ run }: PgPool, authenticity: Authenticity): CredentialStore {
  const table = createSignedTable<CredentialRow>(authenticity, 'credentials', credentialLayouts);

  function authentic(row: SignedRow<CredentialRow>): SignedRow<CredentialRow> {
    if (!table.isAuthentic(row)) throw table.integrityError(`The credential ${row.id}`, row);
    return row;
  }

  async function find(session: Session, id: string): Promise<SignedRow<CredentialRow> | undefined> {
    const [row] = await session.query<SignedRow<CredentialRow>>(byIDs, [[id].filter(isValidPgText)]);
    return row && authentic(row);
  }

  const valuesOf = (row: SignedRow<CredentialRow>) => names.map((column) => row[column]);
  const changesOf = (row: SignedRow<CredentialRow>, before: SignedRow<CredentialRow>) => [
    row.expires,
    row.revoked,
    row.last_used,
    row.successor_id,
    row.mac,
    row.id,
    before.mac,
  ];

  /** Looks and writes until nobody has written in between. `attempt` resolves to undefined where somebody has. */
  function until<T>(attempt: (session: Session) => Promise<T | undefined>): Promise<T> {
    return run(async (session) => {
      for (let turn = 1; turn <= mostTurns; turn += 1) {
        const done = await attempt(session);
        if (done !== undefined) return done;
      }
      throw new AppError('UNAVAILABLE', 'Storage is busy; nothing was written.', { retryAfterSeconds: 1 });
    });
  }

  /** Undefined where somebody else has changed the row meanwhile. */
  async function changeRow(
    session: Session,
    before: SignedRow<CredentialRow>,
    changes: Partial<CredentialRow>,
  ): Promise<true | undefined> {
    const done = await session.write(changeOne, changesOf(table.signed({ ...before, ...changes }), before));
    return done.length === 1 ? true : undefined;
  }

  return {
    findBySecretHash: (secretHash, at) =>
      run(async (session) => {
        const [row] = await session.query<FoundRow>(nearest, [BigInt(at.getTime()), secretHash]);
        if (row === undefined) return undefined;
        const isAuthentic = table.isAuthentic(row);
        if (!isSameHash(row.secret_hash, secretHash)) return undefined;
        if (!isAuthentic) throw table.integrityError(`The credential ${row.id}`, row);
        return { id: row.id, kind: row.kind, label: row.label, orgID: row.org_id ?? undefined, state: row.state };
      }),
    add: (credential) =>
      run(async (session) => {
        await session.write(insertOne, valuesOf(table.signed(credentialToRow(credential))));
      }),
    list: () =>
      run(async (session) =>
        (await session.query<SignedRow<CredentialRow>>(all)).map((row) => credentialFromRow(authentic(row))),
      ),
    revoke: (id, at) =>
      until(async (session) => {
        const row = await find(session, id);
        if (!row) return false;
        return row.revoked === null ? changeRow(session, row, { revoked: BigInt(at.getTime()) }) : true;
      }),
    replace: (id, decide) =>
      until(async (session) => {
        const row = await find(session, id);
        const replacement = decide(row && credentialFromRow(row));
        if (!row) throw new Error('A credential that does not exist was replaced.');
        const retired = table.signed(credentialToRow(replacement.retired));
        const successor = table.signed(credentialToRow(replacement.successor));
        const done = await session.write(replaceOne, [...changesOf(retired, row), ...valuesOf(successor)]);
        return done.length === 1 ? replacement : undefined;
      }),
    markUsed: (uses) =>
      run(async (session) => {
        const rows = await session.query<SignedRow<CredentialRow>>(byIDs, [[...uses.keys()].filter(isValidPgText)]);
        for (const row of rows.map(authentic)) {
          const used = BigInt(uses.get(row.id)?.getTime() ?? 0);
          // Another process that has just noted a use, or revoked it, has said what there is to say.
          if ((row.last_used ?? 0n) < used) await changeRow(session, row, { last_used: used });
        }
      }),
    findDamaged: () =>
      run(async (session) =>
        (await session.query<SignedRow<CredentialRow>>(all))
          .filter((row) => !table.isAuthentic(row))
          .map(({ id }) => id),
      ),
  };
}
