import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredKey } from '../../../src/keys/key.js';
import {
  keyOrders,
  type KeyFilter,
  type KeyOrder,
  type KeyQuery,
  type KeyPosition,
} from '../../../src/keys/key-query.js';
import type { KeyUse } from '../../../src/keys/use/use.js';
import { openPostgres } from '../../../src/storage/postgres/engine.js';
import { openDatabase } from '../../../src/storage/sqlite/connection.js';
import { sqliteDialect } from '../../../src/storage/sql/dialect.js';
import { candidatesStatement, countStatement, pageStatement } from '../../../src/storage/sql/keys/key-query.js';
import { createNameNumbers, type NumberOf } from '../../../src/storage/sql/name-numbers.js';
import { createUses } from '../../../src/storage/sql/keys/uses.js';
import { createReader } from '../../../src/storage/sqlite/reader.js';
import { createSqliteSession, parametersOf } from '../../../src/storage/sqlite/session.js';
import { createWriteGate } from '../../../src/storage/sqlite/write-gate.js';
import { postgres } from '../../support/engines.js';
import { aChange, aKey, rowIDOf } from '../../support/factories.js';
import { createRandom, runs, seed } from '../../support/generated.js';
import { signer } from '../../support/signer.js';
import { sqliteKeyStore, storageDeps } from '../../support/storage.js';

const pages = runs('PAGES', 2000);
const orders = Object.keys(keyOrders) as KeyOrder[];
const database = openDatabase(':memory:');
const store = sqliteKeyStore(database, signer);
const { below, pick } = createRandom(seed);
const now = new Date('2026-01-31T12:00:00Z');
const seconds = BigInt(now.getTime() / 1000);
const nowMs = BigInt(now.getTime());
const keys = Array.from({ length: 300 }, (_, index) => randomKey(index));

function randomKey(index: number): StoredKey {
  return aKey(index, {
    orgID: pick(['acme', 'umbrella']),
    lastUpdated: seconds - BigInt(below(5)),
    lastUsed: pick([undefined, nowMs, nowMs + 1n, nowMs + 2n]),
    deleted: below(4) === 0 ? now : undefined,
    // As imports have it: with the digits of other systems, and before 1970.
    dateCreated: pick([
      ...['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.123456Z'],
      ...['2026-01-31T12:00:00.1239Z', '1969-12-31T23:59:59.5Z', '0000-02-29T00:00:00Z', '9999-12-31T23:59:59.999999Z'],
    ]),
    definition: {
      alias: pick(['', 'A', 'Ab', 'Ab c', 'B']),
      isInactive: below(3) === 0,
      expires: seconds + BigInt(below(5) - 2),
      tags: ['x', 'y', 'z'].filter(() => below(2) === 0),
      applyPolicies: ['gold'].filter(() => below(2) === 0),
    },
  });
}

let numberOf: NumberOf;
beforeAll(async () => {
  await store.add(keys.map(aChange));
  const gate = createWriteGate(database);
  const session = createSqliteSession(database, gate);
  await createUses(session, createReader(database, gate)).add(keys.flatMap(useOf));
  numberOf = await createNameNumbers(session)({ orgs: ['acme'], terms: ['t:x', 't:y', 'p:gold'] });
});
afterAll(() => {
  database.close();
});

function useOf({ keyHash, identity, lastUsed }: StoredKey): KeyUse[] {
  if (lastUsed === undefined) return [];
  return [{ keyHash, identity, day: 1, allowed: 1n, denied: 0n, lastUsed: Number(lastUsed) }];
}

function placeOf(
  { keyHash, definition, lastUpdated, dateCreated, lastUsed = 0n }: StoredKey,
  orderBy: KeyOrder,
): KeyPosition {
  const values = {
    KEY_HASH: '',
    ALIAS: definition.alias ?? '',
    LAST_UPDATED: lastUpdated,
    EXPIRES: definition.expires ?? 0n,
    CREATED: BigInt(new Date(dateCreated.replace(/(\.\d{3})\d+/, '$1')).getTime()),
    LAST_USED: lastUsed,
  };
  return { value: values[orderBy], keyHash };
}

const compare = (a: KeyPosition, b: KeyPosition) =>
  a.value === b.value ? (a.keyHash < b.keyHash ? -1 : Number(a.keyHash > b.keyHash)) : a.value < b.value ? -1 : 1;

/** The page as a definition of it: all keys looked at, one by one. */
function pageOf({ filter, orderBy, descending, after, before, limit }: KeyQuery): string[] {
  const found = keys.filter(
    ({
      keyHash,
      orgID,
      lastUpdated,
      lastUsed = 0n,
      definition: { alias = '', tags = [], applyPolicies = [], expires = 0n, ...key },
      deleted,
    }) => {
      const { isInactive } = key;
      const active = isInactive ? 'INACTIVE' : expires >= 1n && expires <= seconds ? 'EXPIRED' : 'ACTIVE';
      return (
        (filter.states === undefined ? !deleted : filter.states.includes(deleted ? 'DELETED' : active)) &&
        (filter.keyHashes?.includes(keyHash) ?? true) &&
        (filter.orgID ?? orgID) === orgID &&
        alias.startsWith(filter.aliasPrefix ?? '') &&
        alias.toLowerCase().includes((filter.aliasContains ?? '').toLowerCase()) &&
        (filter.tagsAll?.every((tag) => tags.includes(tag)) ?? true) &&
        (filter.tagsAny?.some((tag) => tags.includes(tag)) ?? true) &&
        (filter.policy === undefined || applyPolicies.includes(filter.policy)) &&
        lastUpdated >= (filter.updatedSince ?? 0n) &&
        (filter.unusedSince === undefined || lastUsed < filter.unusedSince) &&
        (filter.expiresBefore === undefined || (expires >= 1n && expires < filter.expiresBefore))
      );
    },
  );
  const sign = descending ? -1 : 1;
  const places = found.map((key) => placeOf(key, orderBy)).sort((a, b) => sign * compare(a, b));
  const isWithin = (place: KeyPosition) =>
    (!after || sign * compare(place, after) > 0) && (!before || sign * compare(place, before) < 0);
  return places
    .filter(isWithin)
    .slice(0, limit)
    .map(({ keyHash }) => keyHash);
}

/** Expects a page of a store to equal that of a full scan. Returns its keys, and how to repeat the case. */
async function expectPage(
  from: Pick<typeof store, 'list'>,
  query: KeyQuery,
): Promise<{ found: string[]; repeat: string }> {
  const found = (await from.list(query)).keys.map(({ keyHash }) => keyHash);
  const words = JSON.stringify(query, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
  const repeat = `FUZZ_SEED=${seed}: ${words}`;
  expect(found, repeat).toStrictEqual(pageOf(query));
  return { found, repeat };
}

/** The steps of SQLite for a statement. */
function planOf({ sql, parameters }: ReturnType<typeof pageStatement>): string[] {
  const plan = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  return plan.all(parametersOf(parameters)).map(({ detail }) => detail);
}

function randomQuery(): KeyQuery {
  const maybe = <T>(value: T) => (below(4) === 0 ? value : undefined);
  const orderBy = pick(orders);
  return {
    filter: {
      orgID: maybe('acme'),
      aliasPrefix: maybe(pick(['', 'A', 'Ab'])),
      aliasContains: maybe(pick(['', 'a', 'B', 'aB', '.', 'none'])),
      tagsAll: maybe(pick([['x'], ['y'], ['x', 'y']])),
      tagsAny: maybe(pick([['x'], ['x', 'y'], ['y', 'none']])),
      keyHashes: maybe(keys.filter(() => below(2) === 0).map((key) => key.keyHash)),
      policy: maybe('gold'),
      states: maybe(
        pick([
          ['ACTIVE'],
          ['INACTIVE'],
          ['EXPIRED'],
          ['DELETED'],
          ['ACTIVE', 'DELETED'],
          ['INACTIVE', 'EXPIRED'],
        ] as const),
      ),
      updatedSince: maybe(seconds - BigInt(below(4))),
      expiresBefore: maybe(seconds + BigInt(below(4))),
      unusedSince: maybe(nowMs + BigInt(below(4))),
    },
    orderBy,
    descending: below(2) === 0,
    // A place is any key's, also one that the filter leaves out.
    after: below(2) === 0 ? placeOf(pick(keys), orderBy) : undefined,
    before: below(4) === 0 ? placeOf(pick(keys), orderBy) : undefined,
    limit: 1 + below(20),
    now,
  };
}

describe('a page of keys', () => {
  it(
    'equals the result of a full scan, for any filter, order and cursor',
    { timeout: 240_000 + pages * 10 },
    async () => {
      for (let run = 0; run < pages; run += 1) {
        const query = randomQuery();
        const { found, repeat } = await expectPage(store, query);
        // The other way to go, which a store takes where a term or an alias is common.
        const { sql, parameters } = pageStatement(sqliteDialect, query, numberOf, { isTermCommon: true });
        const walked = database.prepare<[object], { id: bigint }>(sql).all(parametersOf(parameters));
        expect(
          walked.map(({ id }) => id),
          repeat,
        ).toStrictEqual(found.map(rowIDOf));
      }
    },
  );

  it.skipIf(postgres.isMissing)(
    `equals the result of a full scan, on ${postgres.name}`,
    { timeout: 240_000 + pages * 10 },
    async () => {
      const { database: own, remove } = await postgres.make();
      const opened = await openPostgres(own?.url ?? '');
      const other = await opened.start(signer, storageDeps({ now: () => now }));
      await other.store.add(keys.map(aChange));
      await other.uses.add(keys.flatMap(useOf));
      for (let run = 0; run < runs('PAGES', 400); run += 1) {
        const query = randomQuery();
        const { repeat } = await expectPage(other.store, query);
        const all = { ...query, after: undefined, before: undefined, limit: 1_000 };
        expect(await other.store.count(query.filter, now), repeat).toBe(pageOf(all).length);
      }
      await opened.close();
      await remove();
    },
  );

  const inOrder: [KeyOrder, KeyFilter][] = [
    ...orders.flatMap((orderBy): [KeyOrder, KeyFilter][] => [
      [orderBy, {}],
      [orderBy, { orgID: 'acme' }],
      [orderBy, { states: ['ACTIVE'] }],
      [orderBy, { orgID: 'acme', states: ['ACTIVE'] }],
    ]),
    ...[{}, { orgID: 'acme' }].flatMap((org): [KeyOrder, KeyFilter][] => [
      ['KEY_HASH', { ...org, tagsAll: ['x'] }],
      ['KEY_HASH', { ...org, policy: 'gold' }],
      ['KEY_HASH', { ...org, apiID: 'a' }],
      ['KEY_HASH', { ...org, states: ['INACTIVE'] }],
      ['KEY_HASH', { ...org, states: ['DELETED'] }],
      ['ALIAS', { ...org, aliasPrefix: 'A' }],
      ['LAST_UPDATED', { ...org, updatedSince: 1n }],
      ['LAST_USED', { ...org, unusedSince: 1n }],
    ]),
  ];
  it.each(inOrder)('is read in the order %s of %o from an index at its start, not sorted', (orderBy, filter) => {
    for (const descending of [false, true]) {
      const after = { value: orderBy === 'ALIAS' || orderBy === 'KEY_HASH' ? 'Ab' : seconds, keyHash: '8' };
      const query = { filter, orderBy, descending, after, limit: 20, now };
      const [first = '', ...rest] = planOf(pageStatement(sqliteDialect, query, numberOf));
      const bound = descending ? '<?' : '>?';
      const number = `${(filter.tagsAll ?? filter.policy ?? filter.apiID) ? 'key' : 'id'}${bound}`;
      const place = {
        KEY_HASH: number,
        ALIAS: '(alias,rowid)',
        LAST_UPDATED: '(last_updated,rowid)',
        EXPIRES: '(expires,rowid)',
        CREATED: '(creation,rowid)',
        LAST_USED: '(last_used,rowid)',
      }[orderBy];
      expect(first).toMatch(/^SEARCH .* USING /);
      expect(first).toContain(place);
      for (const step of rest) expect(step).toMatch(/^SEARCH .*(?:rowid|key)=\?\)$/);
    }
  });

  it.each<[KeyFilter, unknown]>([
    // Both indexes have all aliases. SQLite takes either.
    [{ aliasContains: 'a' }, expect.stringMatching(/^SCAN a USING COVERING INDEX keys_by(_org)?_alias$/)],
    [{ aliasPrefix: 'A' }, 'SEARCH a USING COVERING INDEX keys_by_alias (alias>? AND alias<?)'],
    [{ orgID: 'acme', aliasContains: 'a' }, 'SEARCH a USING COVERING INDEX keys_by_org_alias (org=?)'],
    [
      { orgID: 'acme', aliasPrefix: 'A', aliasContains: 'b' },
      'SEARCH a USING COVERING INDEX keys_by_org_alias (org=? AND alias>? AND alias<?)',
    ],
  ])('with the alias %o is found in an index of aliases alone, in any order', (filter, plan) => {
    const aliases = candidatesStatement(sqliteDialect, filter, numberOf);
    expect(planOf(aliases)).toStrictEqual([plan]);
    // A count reads the rows of the keys that it finds.
    const [counted = '', ...rest] = planOf(countStatement(sqliteDialect, filter, numberOf, now));
    expect(counted).toMatch(/^SEARCH k USING .*rowid=\?\)$/);
    expect(rest.at(-1)).toEqual(plan);
    for (const orderBy of orders) {
      const query = { filter: { ...filter, states: ['ACTIVE'] as const }, orderBy, descending: false, limit: 20, now };
      const sorted = planOf(pageStatement(sqliteDialect, query, numberOf, { rows: [1n, 2n] }));
      expect(sorted[0]).toBe('SEARCH k USING INTEGER PRIMARY KEY (rowid=?)');
      // Too many to be sorted: their order is read, and not the range of the prefix.
      const walked = planOf(pageStatement(sqliteDialect, query, numberOf));
      expect(walked.join()).not.toMatch(orderBy === 'ALIAS' ? /TEMP B-TREE/ : /TEMP B-TREE|keys_by(_org)?_alias/);
    }
  });

  it.each<KeyFilter>([{}, { orgID: 'acme' }])('is counted with the filter %o from an index alone', (filter) => {
    const plan = planOf(countStatement(sqliteDialect, filter, numberOf, now));
    expect(plan).toStrictEqual([expect.stringMatching(/ USING COVERING INDEX keys_by_org\b/)]);
  });
});
