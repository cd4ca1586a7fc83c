import { beforeEach, expect, it } from 'vitest';
import { createFeedNotifier } from '../../src/storage/sql/change-feed.js';
import { sqliteDialect } from '../../src/storage/sql/dialect.js';
import { pageStatement } from '../../src/storage/sql/keys/key-query.js';
import { createKeyRowStatements } from '../../src/storage/sql/keys/key-rows.js';
import type { SqlSession, WideQuery } from '../../src/storage/sql/session.js';
import { createBoundedQuery } from '../../src/storage/sqlite/bounded-query.js';
import type { Database } from '../../src/storage/sqlite/connection.js';
import { parametersOf } from '../../src/storage/sqlite/session.js';
import { hashOf } from '../support/factories.js';
import { signer } from '../support/signer.js';
import { openOwnDatabase } from '../support/storage.js';

let database: Database;
beforeEach(() => {
  database = openOwnDatabase();
  // Statements may use its functions.
  createBoundedQuery(database);
});

/** How SQLite finds the rows of `keys k`. */
function waysToKeys({ sql, parameters }: WideQuery): string[] {
  const explained = database.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const details = explained.all(parametersOf(parameters)).map(({ detail }) => detail);
  return details.filter((detail) => /^(SCAN|SEARCH) k\b/.test(detail));
}

const hashes = [hashOf('a'), hashOf('b')];

it('looks the keys of hashes up one by one, also of one organization', () => {
  const { sizesOf } = createKeyRowStatements(sqliteDialect, signer);
  for (const orgID of [undefined, 'acme'])
    expect(waysToKeys(sizesOf(hashes, orgID))).toEqual(['SEARCH k USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']);
});

it.each(['KEY_HASH', 'ALIAS', 'EXPIRES', 'LAST_UPDATED'] as const)(
  'looks the named keys of an organization up one by one, in the order %s',
  (orderBy) => {
    for (const named of [{ keyHashes: hashes }, { identifierHashes: hashes }]) {
      const query = { filter: { orgID: 'acme', ...named }, orderBy, descending: false, limit: 51, now: new Date(0) };
      const ways = waysToKeys(pageStatement(sqliteDialect, query, () => 1n));
      expect(ways).toEqual([
        'SEARCH k USING INTEGER PRIMARY KEY (rowid=?)',
        'SEARCH k USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
      ]);
    }
  },
);

it('reads one entry of the history to find a new change', async () => {
  const found = Promise.withResolvers<string>();
  const session: Pick<SqlSession, 'dialect' | 'all'> = {
    dialect: sqliteDialect,
    all: ({ text }) => {
      found.resolve(text);
      return Promise.resolve([]);
    },
  };
  const stop = createFeedNotifier(session, { everyMs: 60_000 }).follow(() => undefined);
  const plan = database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${await found.promise}`).all();
  stop();
  // In the order of its numbers, up to the first one.
  expect(plan.filter(({ detail }) => detail.includes('history'))).toMatchObject([{ detail: 'SCAN history' }]);
});
