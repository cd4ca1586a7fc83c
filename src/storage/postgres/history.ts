import { AppError } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';
import type { Definition } from '../../keys/definition/normalize.js';
import { definitionFromJSON } from '../../keys/definition/from-json.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { KeyRevision } from '../../keys/key.js';
import type { HistoryRange } from '../../keys/key-query.js';
import type { IntegrityReport } from '../../keys/ports.js';
import type { Authenticity } from '../records/authenticity.js';
import { revisionLayouts, revisionFromRow, type RevisionRow } from '../records/revision.js';
import {
  createChain,
  isUnbroken,
  partsOf,
  sizeOf,
  spanOf,
  type SizedVersion,
  type Span,
} from '../sql/history-entries.js';
import { keyFromRow, termsOf, type KeyRow } from '../records/key.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { createTimeSlices, mapInSlices, type TimeSlices } from '../time-slices.js';
import { prepared } from '../sql/session.js';
import type { PgPool, Session } from './pool.js';
import type { KeyRows } from './key-rows.js';

// Each entry comes with the date of its key, of the same snapshot: another key may have taken the place of the one that was read.
const between = prepared(
  `SELECT a.*, k.date_created AS key_created FROM audit a JOIN keys k ON k.key_hash = a.key_hash
   WHERE a.key_hash = $1 AND a.version_after BETWEEN $2 AND $3 ORDER BY a.version_after`,
);
const sizes = prepared(
  `SELECT version_after AS version, (octet_length(definition) + octet_length(changes))::bigint AS size FROM audit
   WHERE key_hash = $1 AND version_after BETWEEN $2 AND $3 ORDER BY version_after`,
);
const chunk = prepared(
  'SELECT * FROM audit WHERE key_hash = $1 AND version_after > $2 ORDER BY version_after LIMIT 500',
);
const listed = prepared('SELECT term FROM key_terms WHERE key_hash = $1 AND org_id = $2');
const withoutKey = prepared(
  'SELECT DISTINCT key_hash FROM audit a WHERE NOT EXISTS (SELECT FROM keys k WHERE k.key_hash = a.key_hash)',
);

const mostLooks = 5;

/** The history of keys. */
export function createHistory(
  authenticity: Authenticity,
  { run }: PgPool,
  rows: KeyRows,
  slices: TimeSlices = createTimeSlices(),
) {
  const table = createSignedTable<RevisionRow>(authenticity, 'audit', revisionLayouts);

  /** Rows are verified in time slices: the MAC of one covers its definition. */
  const nextSlice = async () => slices.next();

  /**
   * The entries of the span that `spanFor` returns for the key's row. Entries are never changed and are removed only
   * together with their key: when one is missing although the key is still the same, the history is damaged.
   */
  async function entries(
    keyHash: string,
    spanFor: (row: KeyRow | undefined) => Span,
    reads?: ReadBudget,
  ): Promise<RevisionRow[]> {
    let before: SignedRow<KeyRow> | undefined;
    for (let look = 1; look <= mostLooks; look += 1) {
      const looked = await run((session) => rows.lookUp(session, [keyHash]));
      await nextSlice();
      const row = looked.get(keyHash)?.read();
      const span = spanFor(row);
      if (!row || span.newest < span.first) return [];
      const isAsBefore = before !== undefined && Buffer.compare(before.mac, row.mac) === 0;
      const bounds = [row.key_hash, span.first, span.newest];
      const sized = reads ? await run((session) => session.query<SizedVersion>(sizes, bounds)) : [];
      if (!before) reads?.take('history entries', sized.length, sizeOf(sized));
      const found: RevisionRow[] = [];
      let broken: SignedRow<RevisionRow>[] | undefined;
      for (const part of partsOf(span, sized)) {
        reads?.requireTime();
        const entriesOfPart = await run((session) =>
          session.query<SignedRow<RevisionRow> & { readonly key_created: string }>(between, [
            row.key_hash,
            part.first,
            part.newest,
          ]),
        );
        await nextSlice();
        const isOfKey = entriesOfPart.every(({ key_created }) => key_created === row.date_created);
        if (!isOfKey || !isUnbroken(entriesOfPart, part, table.isAuthentic)) {
          broken = entriesOfPart;
          break;
        }
        found.push(...entriesOfPart);
      }
      if (!broken) return found;
      if (isAsBefore) throw table.integrityError(`The history of ${keyHash}`, ...broken);
      before = row;
    }
    throw new AppError('UNAVAILABLE', 'Storage is busy.', { retryAfterSeconds: 1 });
  }

  return {
    table,
    /** @throws {AppError} NOT_FOUND as `spanOf` does. */
    async read(keyHash: string, range: HistoryRange, reads?: ReadBudget): Promise<KeyRevision[]> {
      const found = await entries(keyHash, (row) => spanOf(range, row), reads);
      return mapInSlices(slices, found, revisionFromRow, reads);
    },
    async definitionAt(keyHash: string, version: number): Promise<Definition | undefined> {
      const [row] = await entries(keyHash, (key) =>
        version < 1 || version > Number(key?.version ?? 0n)
          ? { first: 1, newest: 0 }
          : { first: version, newest: version },
      );
      return row && definitionFromJSON(parseJSON(row.definition));
    },
    /** Looks at all that belongs to a row, in a session that sees one moment. */
    async inspect(session: Session, row: SignedRow<KeyRow>): Promise<IntegrityReport> {
      const keyHash = row.key_hash;
      // What belongs to a row is held against what the row says, and a damaged one says nothing.
      const nothing = { keyHash, exists: true, key: undefined, isHistoryIntact: true, isIndexed: true };
      if (!rows.table.isAuthentic(row)) return nothing;
      const chain = createChain(table.isAuthentic);
      for (let after: bigint | undefined = 0n; after !== undefined;) {
        const page: SignedRow<RevisionRow>[] = await session.query(chunk, [keyHash, after]);
        for (const entry of page) chain.add(entry);
        after = page.at(-1)?.version_after;
      }
      const key = keyFromRow(row);
      const found = await session.query<{ term: string }>(listed, [keyHash, key.orgID]);
      const terms = new Set(found.map(({ term }) => term));
      return {
        ...nothing,
        key,
        isHistoryIntact: chain.endAt(row)?.definition === row.definition,
        isIndexed: [...termsOf(key)].every((term) => terms.has(term)),
      };
    },
    /** Hashes of keys that a history speaks of and that are not there. */
    withoutKey: async (): Promise<string[]> => {
      const found = await run((session) => session.query<{ key_hash: string }>(withoutKey));
      return found.map(({ key_hash }) => key_hash);
    },
  };
}
