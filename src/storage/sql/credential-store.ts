import type {
  CredentialRollback,
  CredentialStore,
  FoundCredential,
  IssuedCounts,
} from '../../credentials/credential.js';
import { AppError } from '../../lib/errors.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import {
  credentialFromRow,
  credentialTable,
  credentialToRow,
  isSameHash,
  scopesOf,
  type CredentialRow,
} from '../records/credential.js';
import { stampOf, type CredentialStamps } from '../records/head.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { createCredentialHead, headSignature } from './credential-head.js';
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

type FoundRow = SignedRow<CredentialRow> & Pick<FoundCredential, 'state'> & { readonly head_mac: Uint8Array | null };

const columns = credentialTable.columnNames;
const changing = ['id', 'expires', 'revoked', 'last_used', 'successor_id', 'mac'] as const;

const statements = ({ inList, forUpdate }: Dialect) => {
  const withState = `*, CASE WHEN revoked IS NOT NULL THEN 'revoked' WHEN expires <= $1 THEN 'expired' ELSE 'active' END AS state,
    ${headSignature} AS head_mac`;
  return {
    // Two rows are read in any case: response times do not reveal whether a hash exists.
    nearest: prepared(
      `SELECT * FROM (SELECT ${withState} FROM credentials WHERE secret_hash >= $2 ORDER BY secret_hash LIMIT 1) AS nearest
       UNION ALL SELECT * FROM (SELECT ${withState} FROM credentials ORDER BY secret_hash LIMIT 1) AS first`,
    ),
    newest: prepared(`SELECT *, ${headSignature} AS head_mac FROM credentials WHERE id = $1`),
    all: prepared('SELECT * FROM credentials ORDER BY created, id'),
    page: prepared(`SELECT * FROM credentials WHERE (created, id) > ($1, $2) ORDER BY created, id LIMIT $3`),
    pageOfOrg: prepared(
      `SELECT * FROM credentials WHERE (created, id) > ($1, $2) AND org_id = $4 ORDER BY created, id LIMIT $3`,
    ),
    counts: prepared(
      `SELECT COALESCE(SUM(CASE WHEN created > $1 THEN 1 ELSE 0 END), 0) AS recent,
         COALESCE(SUM(CASE WHEN revoked IS NULL AND (expires IS NULL OR expires > $2) THEN 1 ELSE 0 END), 0) AS active
       FROM credentials WHERE org_id IS NOT DISTINCT FROM $3`,
    ),
    byIDs: prepared(`SELECT * FROM credentials WHERE id ${inList('$1', 'text')} ORDER BY id ${forUpdate()}`),
    insert: prepared(insertInto('credentials', columns)),
    update: prepared(updateByID('credentials', changing)),
  };
};

/** Credentials in the database of the keys. A change by another process is seen by the next look-up. */
export function createCredentialStore(
  session: SqlSession,
  signer: RowSigner,
  cache?: CredentialCache,
): CredentialStore {
  const { dialect, all, transaction } = session;
  const sql = statements(dialect);
  const head = createCredentialHead(session, signer);
  const table = createSignedTable(signer, credentialTable);

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

  /** Adds a row, if `permit` does. */
  function* insert(row: CredentialRow, permit: ((issued: IssuedCounts) => void) | undefined): Work<void> {
    if (permit) {
      const from = row.created - dayMs;
      const [found] = yield* query<CountsRow>(sql.counts, [from, row.created, row.org_id]);
      permit({ recent: Number(found?.recent ?? 0), active: Number(found?.active ?? 0) });
    }
    yield* query(sql.insert, valuesOf(table.signed(row), columns));
  }

  const change = <T>(work: () => Work<T>): Promise<T> => transaction(work).finally(() => cache?.clear());

  return {
    async findBySecretHash(secretHash, at) {
      const now = BigInt(at.getTime());
      const cached = cache?.find(secretHash, now);
      if (cached) return foundCredential(cached, 'active');
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const generation = cache?.generation() ?? 0;
        const [row] = await all<FoundRow>(sql.nearest, [now, secretHash]);
        if (row === undefined) return undefined;
        const isAuthentic = table.isAuthentic(row);
        if (!isSameHash(row.secret_hash, secretHash)) return undefined;
        if (!isAuthentic) throw table.integrityError(`The credential ${row.id}`, row);
        const stamps = await head.stampsAt(row.head_mac);
        // Another credential has changed since: read again.
        if (!stamps) continue;
        if (stamps.get(row.id) !== stampOf(row)) throw rolledBack(row.id);
        if (row.state === 'active') cache?.add(row, generation);
        return foundCredential(row, row.state);
      }
      throw busy();
    },
    async find(id) {
      if (!isBindableText(id)) return undefined;
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const [row] = await all<SignedRow<CredentialRow> & Pick<FoundRow, 'head_mac'>>(sql.newest, [id]);
        const stamps = row ? await head.stampsAt(row.head_mac) : (await head.current()).stamps;
        // Another credential has changed since: read again.
        if (!stamps) continue;
        const stamp = row && stampOf(verified(row));
        if (stamps.get(id) === stamp) return row && credentialFromRow(row);
        // Without a row: one that was added since, or was removed.
        if (row || attempt === maxAttempts) throw rolledBack(id);
      }
      throw busy();
    },
    add: (credential, permit) =>
      change(function* () {
        const row = credentialToRow(credential);
        const locked = yield* head.lock();
        const [existing] = yield* find([row.id]);
        if (existing) return credentialFromRow(existing);
        yield* insert(row, permit);
        yield* head.write(locked, [row]);
        return credential;
      }),
    list: async () => (await allRows()).map((row) => credentialFromRow(verified(row))),
    async page({ orgID, after, limit }) {
      const range = [BigInt(after?.created.getTime() ?? -1), after?.id ?? '', limit];
      if (![after?.id ?? '', orgID ?? ''].every(isBindableText)) return [];
      const rows = await (orgID === undefined
        ? all<SignedRow<CredentialRow>>(sql.page, range)
        : all<SignedRow<CredentialRow>>(sql.pageOfOrg, [...range, orgID]));
      return rows.map((row) => credentialFromRow(verified(row)));
    },
    revoke: (id, at, permit) =>
      change(function* () {
        const locked = yield* head.lock();
        const [row] = yield* find([id]);
        permit?.(row && credentialFromRow(row));
        if (row?.revoked === null) {
          const revoked = { ...row, revoked: BigInt(at.getTime()) };
          yield* update(revoked);
          yield* head.write(locked, [revoked]);
        }
        return row !== undefined;
      }),
    replace: (id, decide, permit) =>
      change(function* () {
        const locked = yield* head.lock();
        const [row] = yield* find([id]);
        const replacement = decide(row && credentialFromRow(row));
        const successor = credentialToRow(replacement.successor);
        const retired = credentialToRow(replacement.retired);
        yield* insert(successor, permit);
        yield* update(retired);
        yield* head.write(locked, [successor, retired]);
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
    async findRolledBack() {
      // Reads the head before and after the rows, and repeats if it changed.
      for (let attempt = 1; ; attempt += 1) {
        const { sequence, stamps } = await head.current();
        const rows = await allRows();
        if ((await head.current()).sequence !== sequence && attempt < maxAttempts) continue;
        return rollbacksOf(stamps, rows, table.isAuthentic);
      }
    },
    async verifyHead() {
      try {
        await head.current();
      } catch (error) {
        cache?.clear();
        throw error;
      }
    },
    beginHead: () =>
      transaction(function* () {
        const rows = yield* query<SignedRow<CredentialRow>>(sql.all);
        yield* head.begin(rows.filter(table.isAuthentic));
      }),
  };
}

const maxAttempts = 5;
const dayMs = 86_400_000n;

interface CountsRow {
  readonly recent: bigint | number;
  readonly active: bigint | number;
}

/** The credentials whose state is not the newest, and those that are missing. */
function rollbacksOf(
  stamps: CredentialStamps,
  rows: readonly SignedRow<CredentialRow>[],
  isAuthentic: (row: SignedRow<CredentialRow>) => boolean,
): CredentialRollback[] {
  // A damaged row is reported as that.
  const outdated = rows.filter((row) => isAuthentic(row) && stamps.get(row.id) !== stampOf(row));
  const ids = new Set(rows.map(({ id }) => id));
  const missing = [...stamps.keys()].filter((id) => !ids.has(id));
  return [...outdated.map(({ id, label }) => ({ id, label })), ...missing.map((id) => ({ id }))];
}

function busy(): AppError {
  return new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 });
}

function rolledBack(id: string): AppError {
  return new AppError(
    'INTERNAL',
    `The credential ${id} is not in its newest state: an older row was put back; run \`keyfront check\` for details.`,
  );
}

function foundCredential(
  { id, kind, label, org_id: orgID, scopes }: CredentialRow,
  state: FoundCredential['state'],
): FoundCredential {
  return { id, kind, label, orgID: orgID ?? undefined, scopes: scopesOf({ scopes }), state };
}
