import { AppError } from '../../../lib/errors.js';
import type { StoredKey } from '../../../keys/key.js';
import { createdMs, type KeyFilter, type KeyPage, type KeyQuery, type UnreadableKey } from '../../../keys/key-query.js';
import type { KeyStore } from '../../../keys/ports.js';
import type { ReadBudget } from '../../../keys/read-budget.js';
import { term, type KeyRow, type StoredKeyRow } from '../../records/key-records.js';
import { integrityError, type SignedRow } from '../../records/signed.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { createNameNumbers, type NumberOf } from '../name-numbers.js';
import { unprepared, type SqlSession, type WideQuery, type WideReader } from '../session.js';
import {
  candidatesStatement,
  countStatement,
  matchesFilter,
  maxSortedRows,
  orgCountsStatement,
  orgPagesStatement,
  pageStatement,
  sortsCandidates,
  sortsKeysOfTerm,
  termCountStatement,
  termsIn,
  type PageLead,
} from './key-query.js';
import { organizationsStatement, tagsOfOrgsStatement } from './name-query.js';

interface KeyListsDeps {
  readonly session: SqlSession;
  readonly reader: WideReader;
  readonly slices: TimeSlices;
  /** The key of a row. @throws {AppError} INTERNAL when the row fails its integrity check. */
  readonly keyOf: (row: SignedRow<KeyRow>) => StoredKey;
}

type KeyLists = Pick<KeyStore, 'list' | 'listOfOrgs' | 'count' | 'countOfOrgs' | 'organizations' | 'tagsOfOrgs'>;

interface NameRow {
  readonly name: string;
}

/** Lists and counts keys. */
export function createKeyLists({ session, reader, slices, keyOf }: KeyListsDeps): KeyLists {
  const { dialect, all } = session;
  const readNumbers = createNameNumbers(session);
  const numbersFor = (filter: KeyFilter, orgIDs: readonly string[]) =>
    readNumbers({ orgs: orgIDs, terms: [...termsIn(filter), ...(filter.tagsAny ?? []).map(term.tag)] });

  /** The key of a row; or its error, so that a damaged row fails alone. */
  function listed(row: SignedRow<KeyRow>): StoredKey | AppError {
    try {
      return keyOf(row);
    } catch (error) {
      if (error instanceof AppError && error.code === 'INTERNAL') return error;
      throw error;
    }
  }

  async function readRows(statement: WideQuery, query: KeyQuery, reads: ReadBudget | undefined) {
    const mayCut = query.maxBytes !== undefined;
    const maxBytes = query.maxBytes ?? reads?.bytesLeft() ?? Number.MAX_SAFE_INTEGER;
    const { rows, found } = await reader.keys<StoredKeyRow>(statement, { maxBytes, mayCut }, reads);
    if (!mayCut) reads?.take('keys', found.count, found.bytes);
    return { rows, isCut: rows.length < found.count };
  }

  async function pageOf(
    rows: readonly StoredKeyRow[],
    query: KeyQuery,
    isCut: boolean,
    reads: ReadBudget | undefined,
  ): Promise<KeyPage> {
    const items = await mapInSlices(slices, rows, (row) => ({ row, item: listed(row) }), reads);
    const unreadable = items.flatMap(({ row, item }, index): UnreadableKey[] =>
      item instanceof AppError ? [{ index, position: positionOf(row, query), error: item }] : [],
    );
    const keys = items.flatMap(({ item }) => (item instanceof AppError ? [] : [item]));
    // A damaged index finds authentic rows that are not of the query, such as another organization's.
    if (!keys.every((key) => matchesFilter(query, key))) throw integrityError('An index of the keys');
    return { keys, isCut, ...(unreadable.length > 0 && { unreadable }) };
  }

  /** Whether too many keys have the term of the query to be sorted. */
  async function isTermCommon(query: KeyQuery, numberOf: NumberOf): Promise<boolean> {
    const statement = dialect.joinsInOrder ? termCountStatement(query, numberOf) : undefined;
    if (!statement) return false;
    const [found] = await all<{ count: bigint }>(unprepared(statement.sql), statement.parameters);
    return Number(found?.count ?? 0n) > maxSortedRows;
  }

  /** How a page is found: by a rare term, else by few candidates, else in its order. */
  async function leadOf(query: KeyQuery, numberOf: NumberOf, reads: ReadBudget | undefined): Promise<PageLead> {
    const hasTerms = termsIn(query.filter).length > 0;
    const isCommon = hasTerms && (await isTermCommon(query, numberOf));
    if (!sortsCandidates(query) || (hasTerms && !isCommon)) return { isTermCommon: isCommon };
    const found = await reader.few<{ id: bigint }>(candidatesStatement(dialect, query.filter, numberOf), reads);
    if (found.length > maxSortedRows) return { isTermCommon: isCommon };
    return { isTermCommon: isCommon, rows: found.map(({ id }) => id) };
  }

  async function list(query: KeyQuery, reads?: ReadBudget): Promise<KeyPage> {
    reads?.requireTime();
    const { orgID } = query.filter;
    const numberOf = await numbersFor(query.filter, orgID === undefined ? [] : [orgID]);
    const statement = pageStatement(dialect, query, numberOf, await leadOf(query, numberOf, reads));
    const { rows, isCut } = await readRows(statement, query, reads);
    return pageOf(rows, query, isCut, reads);
  }

  return {
    list,
    async listOfOrgs(orgIDs, query, reads) {
      // How the keys are read may depend on their number in each organization.
      const dependsOnOrg =
        sortsKeysOfTerm(query) || sortsCandidates({ ...query, filter: { ...query.filter, orgID: orgIDs[0] } });
      if (orgIDs.length === 1 || query.maxBytes !== undefined || dependsOnOrg) {
        return Promise.all(orgIDs.map((orgID) => list({ ...query, filter: { ...query.filter, orgID } }, reads)));
      }
      const distinct = [...new Set(orgIDs)];
      const numberOf = await numbersFor(query.filter, distinct);
      const { rows } =
        distinct.length === 0
          ? { rows: [] }
          : await readRows(orgPagesStatement(dialect, query, numberOf, distinct), query, reads);
      const pages = new Map<string, KeyPage>();
      for (const orgID of distinct) {
        const ofOrg = rows.filter(({ org_id }) => org_id === orgID);
        pages.set(orgID, await pageOf(ofOrg, { ...query, filter: { ...query.filter, orgID } }, false, reads));
      }
      return orgIDs.map((orgID) => pages.get(orgID) ?? { keys: [], isCut: false });
    },
    async count(filter, now, reads) {
      const numberOf = await numbersFor(filter, filter.orgID === undefined ? [] : [filter.orgID]);
      const [row] = await reader.many<{ count: bigint }>(countStatement(dialect, filter, numberOf, now), reads);
      return Number(row?.count ?? 0n);
    },
    async countOfOrgs(orgIDs, filter, now, reads) {
      const numberOf = await numbersFor(filter, orgIDs);
      const statement = orgCountsStatement(dialect, filter, numberOf, now, orgIDs);
      const rows = await reader.many<{ org: bigint; count: bigint }>(statement, reads);
      const counts = new Map(rows.map(({ org, count }) => [org, Number(count)]));
      return orgIDs.map((orgID) => counts.get(numberOf('orgs', orgID)) ?? 0);
    },
    async organizations(query, reads) {
      const rows = await reader.many<NameRow>(organizationsStatement(dialect, query), reads);
      return rows.map(({ name }) => name);
    },
    async tagsOfOrgs(orgIDs, query, reads) {
      const numberOf = await readNumbers({ orgs: orgIDs, terms: [] });
      const numbers = [...new Set(orgIDs.map((orgID) => numberOf('orgs', orgID)))];
      if (numbers.length === 0) return [];
      const statement = tagsOfOrgsStatement(dialect, query, numbers);
      const rows = await reader.many<NameRow & { readonly org: bigint }>(statement, reads);
      const tagsOf = (number: bigint) =>
        rows.filter(({ org }) => org === number).map(({ name }) => name.slice(term.tag('').length));
      return orgIDs.map((orgID) => tagsOf(numberOf('orgs', orgID)));
    },
  };
}

/** Where the query has found a row. */
function positionOf(row: StoredKeyRow, { orderBy }: KeyQuery) {
  const values = {
    KEY_HASH: '',
    ALIAS: row.alias,
    LAST_UPDATED: row.last_updated,
    EXPIRES: row.expires,
    CREATED: row.created ?? createdMs(row.date_created ?? ''),
    LAST_USED: row.last_used,
  };
  return { value: values[orderBy], keyHash: row.key_hash };
}
