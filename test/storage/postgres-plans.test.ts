import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createdMs, type KeyFilter, type KeyOrder, type KeyQuery, type KeyPosition } from '../../src/keys/key-query.js';
import { noticeOf } from '../../src/keys/notices.js';
import type { StoredKeyRow } from '../../src/storage/records/key-records.js';
import { createPgPool, type PgPool } from '../../src/storage/postgres/pool.js';
import { createFeedNotifier } from '../../src/storage/sql/change-feed.js';
import { postgresDialect } from '../../src/storage/sql/dialect.js';
import { candidatesStatement, countStatement, pageStatement, termsIn } from '../../src/storage/sql/keys/key-query.js';
import { createUses } from '../../src/storage/sql/keys/uses.js';
import { createPgWideReader } from '../../src/storage/postgres/wide-reader.js';
import { createNameNumbers } from '../../src/storage/sql/name-numbers.js';
import { createPgSession } from '../../src/storage/postgres/session.js';
import type { WideQuery } from '../../src/storage/sql/session.js';
import { postgres, type EnginePlace } from '../support/engines.js';
import { vacuum } from '../support/postgres.js';
import { openPlans, recordStatements, type SentStatement, type StatementWork } from '../support/postgres-plans.js';
import { signer } from '../support/signer.js';
import { postgresKeyStore } from '../support/storage.js';
import { until } from '../support/until.js';
import { aChange, aKey, anUpdate, hashOf } from '../support/factories.js';

const keys = Number(process.env['PLAN_KEYS'] ?? 20_000);
const orgs = 40;
const limit = 20;
const now = new Date('2026-01-31T12:00:00Z');
const seconds = BigInt(now.getTime() / 1000);
const textOf = (statement: SentStatement['statement']) => (typeof statement === 'string' ? statement : statement.text);
/** Of a key that is rotated. */
const identifiers = new Map([[hashOf('retiring'), 1]]);
const ours = Array.from({ length: 6 }, (_, index) => aKey(`ours ${index}`, { definition: { tags: ['x'] } }));

/**
 * Rows like those of a company: half of the keys belong to one organization, one in fifty is deleted, one in twenty is
 * inactive, one in twenty ends. What they are filled with otherwise does not matter to a plan.
 */
const fill = `
  INSERT INTO orgs (id, name) SELECT n, 'org-' || n FROM generate_series(0, 5000) AS n;
  INSERT INTO terms (name) SELECT kind || n FROM
    (VALUES ('t:tag-', 50), ('p:policy-', 500), ('a:api-', 50)) AS kinds (kind, count), generate_series(0, count - 1) AS n;
  INSERT INTO actors (id, credential_id, label) SELECT n, 'c' || n, 'c' FROM generate_series(1, 5000) AS n;
  SELECT setval(pg_get_serial_sequence('orgs', 'id'), 9000), setval(pg_get_serial_sequence('actors', 'id'), 9000);
  INSERT INTO keys (id, key_hash, identity, org, version, head, date_created, last_updated, last_used, deleted, expires, is_inactive,
      quota_used, alias, sealed_key_id, history_link, mac, definition)
    SELECT ('x0' || left(encode(hash, 'hex'), 15))::bit(64)::bigint * 8, hash, '\\x01',
      CASE WHEN die(1, 2) = 0 THEN 0 ELSE die(2, ${orgs}) END, 3, 3 * n,
      '2026-01-31T12:' || lpad((die(9, 60))::text, 2, '0') || ':' || lpad((die(10, 60))::text, 2, '0') || '.123456Z', ${seconds} - die(3, 100000),
      CASE WHEN die(11, 3) > 0 THEN ${seconds}000 - die(12, 1000000000) ELSE 0 END, CASE WHEN die(4, 50) = 0 THEN 1000000 + n END,
      CASE WHEN die(6, 20) = 0 THEN ${seconds} - 1000 + die(7, 2000) ELSE 0 END, CASE WHEN die(8, 20) = 0 THEN 1 ELSE 0 END,
      0, 'Key ' || die(5, 7000), '\\x01', '\\x02', hash, '{}' || repeat(' ', 800)
    FROM (SELECT n, sha256(n::text::bytea) AS hash FROM generate_series(1, ${keys}) AS n) AS numbered;
  INSERT INTO key_terms (term, key, org)
    SELECT t.id, k.id, k.org
    FROM keys k CROSS JOIN (VALUES ('t:tag-', 50), ('p:policy-', 500), ('a:api-', 50)) AS kinds (kind, count)
      JOIN terms t ON t.name = kind || abs(hashtext(k.id::text || kind)) % count;
  INSERT INTO history (id, key, version, previous, key_hash, org, at, operation, actor, request_id, link, mac, changes, before, tx)
    SELECT head - 3 + entry, id, entry, CASE WHEN entry > 1 THEN head - 4 + entry END, key_hash, org, 0, 'update', 1, 'r',
      '\\x01', '\\x02', '[]', definition, 0
    FROM keys, generate_series(1, 3) AS entry;
  SELECT setval(pg_get_serial_sequence('history', 'id'), 1000000);
  INSERT INTO identifiers (key_hash, key, retires)
    SELECT sha256(key_hash), id, CASE WHEN abs(hashtext(id::text)) % 10 = 0 THEN 1000000 + id % 1000000 END FROM keys;
  INSERT INTO key_days (day, key, allowed, denied)
    SELECT day, id, 1, 0 FROM keys, generate_series(19961, 20000) AS day;
  INSERT INTO org_days (org, day, allowed, denied)
    SELECT n, day, 1, 0 FROM generate_series(0, 100) AS n, generate_series(19600, 20000) AS day;
  INSERT INTO credentials (id, kind, label, secret_hash, created, mac)
    SELECT 'cred_' || n, 'service', 'c', sha256(n::text::bytea), n, '\\x02' FROM generate_series(1, 5000) AS n`.replaceAll(
  /die\((\d+), (\d+)\)/g,
  `abs(hashtext('$1 ' || n)) % $2`,
);

describe.skipIf(postgres.isMissing)(`the plans of ${keys} keys on ${postgres.name}`, () => {
  let place: EnginePlace;
  let connections: PgPool;
  let plans: Awaited<ReturnType<typeof openPlans>>;
  beforeAll(async () => {
    place = await postgres.make({ isSeparate: true });
    const url = place.database?.url ?? '';
    await place.database?.run(fill);
    // As in a database that is in use. Otherwise autovacuum changes the plans when the machine is slow.
    if (place.database) await vacuum(place.database);
    connections = createPgPool(url, 'plans');
    plans = await openPlans(url);
    await postgresKeyStore(connections, signer).add(ours.map(aChange));
  });
  afterAll(async () => {
    await plans.close();
    await connections.close();
    await place.remove();
  });

  const work = async ({ sql, parameters }: WideQuery): Promise<StatementWork> => {
    const [found] = await plans.of({ statement: sql, values: parameters });
    return found ?? { scannedTables: ['none'], indexesAlone: [], rowsRead: Number.NaN, hasSort: true };
  };
  const query = (orderBy: KeyOrder, filter: KeyFilter, changes: Partial<KeyQuery> = {}): KeyQuery => ({
    ...{ filter, orderBy, descending: false, limit, now },
    ...changes,
  });
  /** The place that the last page begins at; undefined where there is one page only. */
  const lastPlace = async (requested: KeyQuery): Promise<KeyPosition | undefined> => {
    const { sql, parameters } = pageStatement(
      postgresDialect,
      { ...requested, descending: !requested.descending, limit: limit + 1 },
      await numbersFor(requested.filter),
    );
    const [row] = await connections.run(async (session) => {
      const found = await session.query<{ id: bigint }>(sql, parameters);
      return session.query<
        Pick<StoredKeyRow, 'key_hash' | 'alias' | 'last_updated' | 'expires' | 'date_created' | 'last_used'>
      >(
        `SELECT encode(key_hash, 'hex') AS key_hash, alias, last_updated, expires, date_created, last_used FROM keys WHERE id = $1`,
        [found[limit]?.id],
      );
    });
    return (
      row && {
        value: {
          KEY_HASH: '',
          ALIAS: row.alias,
          LAST_UPDATED: row.last_updated,
          EXPIRES: row.expires,
          CREATED: createdMs(row.date_created ?? ''),
          LAST_USED: row.last_used,
        }[requested.orderBy],
        keyHash: row.key_hash,
      }
    );
  };

  const numbersFor = (filter: KeyFilter) =>
    createNameNumbers(createPgSession(connections))({
      orgs: filter.orgID === undefined ? [] : [filter.orgID],
      terms: termsIn(filter),
    });

  const filters: KeyFilter[] = [{}, { orgID: 'org-0' }, { orgID: 'org-7' }].flatMap((org): KeyFilter[] => [
    org,
    ...(['ACTIVE', 'INACTIVE', 'EXPIRED', 'DELETED'] as const).map((state) => ({ ...org, states: [state] })),
    { ...org, states: ['INACTIVE', 'EXPIRED'] },
    { ...org, tagsAny: ['tag-1', 'tag-2'] },
    { ...org, tagsAll: ['tag-1', 'tag-2'] },
    { ...org, keyHashes: [hashOf('1'), hashOf('2')] },
    { ...org, identifierHashes: [hashOf('1'), hashOf('2')] },
    { ...org, tagsAll: ['tag-1'] },
    { ...org, policy: 'policy-1' },
    { ...org, apiID: 'api-1' },
    { ...org, tagsAll: ['tag-1'], apiID: 'api-1' },
    { ...org, aliasPrefix: 'Key 12' },
    { ...org, updatedSince: seconds - 500n },
    { ...org, expiresBefore: seconds },
    { ...org, unusedSince: seconds * 1000n - 900_000_000n },
    { ...org, tagsAll: ['tag-1'], aliasPrefix: 'Key 1', states: ['ACTIVE'] },
  ]);
  const orders: KeyOrder[] = ['KEY_HASH', 'ALIAS', 'LAST_UPDATED', 'EXPIRES', 'CREATED', 'LAST_USED'];

  it.each(filters)('find a page of %o without a full scan, in any order', async (filter) => {
    for (const orderBy of orders) {
      for (const descending of [false, true]) {
        const requested = query(orderBy, filter, { descending });
        for (const after of [undefined, await lastPlace(requested)]) {
          const { scannedTables, rowsRead } = await work(
            pageStatement(postgresDialect, { ...requested, after }, await numbersFor(filter)),
          );
          const which = `${orderBy}, ${descending ? 'descending' : 'ascending'}, the ${after ? 'last' : 'first'}`;
          expect([which, ...scannedTables]).toStrictEqual([which]);
          expect(rowsRead, which).toBeLessThan(keys / 2);
        }
      }
    }
  });

  const inOrder: [KeyOrder, KeyFilter][] = [{}, { orgID: 'org-0' }, { orgID: 'org-7' }].flatMap(
    (org): [KeyOrder, KeyFilter][] => [
      // The few keys of a small organization are sorted: most have the same expiry, and creation has one index.
      ...orders
        .filter((orderBy) => org.orgID !== 'org-7' || !['EXPIRES', 'CREATED', 'LAST_USED'].includes(orderBy))
        .flatMap((orderBy): [KeyOrder, KeyFilter][] => [
          [orderBy, org],
          [orderBy, { ...org, states: ['ACTIVE'] }],
        ]),
      ['KEY_HASH', { ...org, tagsAll: ['tag-1'] }],
      ['KEY_HASH', { ...org, policy: 'policy-1' }],
      ['KEY_HASH', { ...org, apiID: 'api-1' }],
      ['KEY_HASH', { ...org, states: ['INACTIVE'] }],
      ['KEY_HASH', { ...org, states: ['DELETED'] }],
      ['ALIAS', { ...org, aliasPrefix: 'Key 12' }],
      ['LAST_UPDATED', { ...org, updatedSince: seconds - 50_000n }],
    ],
  );
  inOrder.push(['LAST_USED', { unusedSince: seconds * 1000n - 900_000_000n }]);
  it.each(inOrder)(
    'read as few rows for the last page in the order %s of %o as for the first',
    async (orderBy, filter) => {
      for (const descending of [false, true]) {
        const requested = query(orderBy, filter, { descending });
        const after = await lastPlace(requested);
        const numberOf = await numbersFor(filter);
        const first = await work(pageStatement(postgresDialect, requested, numberOf));
        const last = await work(pageStatement(postgresDialect, { ...requested, after }, numberOf));
        expect(first.rowsRead).toBeLessThan(limit * 6);
        expect(last.rowsRead).toBeLessThan(limit * 6);
      }
    },
  );

  it.each<[KeyFilter, string, number]>([
    [{ aliasContains: 'EY 123' }, 'keys_by_alias', keys + ours.length],
    [{ aliasPrefix: 'Key 123' }, 'keys_by_alias', 100],
    [{ orgID: 'org-0', aliasContains: 'EY 123' }, 'keys_by_org_alias', 0.6 * keys],
    [{ orgID: 'org-7', aliasContains: 'EY 1' }, 'keys_by_org_alias', 1000],
    [{ orgID: 'org-0', aliasPrefix: 'Key 1', aliasContains: '23' }, 'keys_by_org_alias', 0.2 * keys],
  ])('find the aliases of %o in an index of aliases alone, and sort the keys', async (filter, index, maxRead) => {
    const numberOf = await numbersFor(filter);
    const statement = candidatesStatement(postgresDialect, filter, numberOf);
    expect(await work(statement)).toMatchObject({ scannedTables: [], indexesAlone: [index] });
    expect((await work(statement)).rowsRead).toBeLessThanOrEqual(maxRead);
    const found = await connections.run((session) =>
      session.query<{ id: bigint }>(statement.sql, statement.parameters),
    );
    expect(found.length).toBeGreaterThan(0);
    const rows = found.map(({ id }) => id);
    // PostgreSQL 15 intersects the index of a small organization with the rows.
    const ofSmallOrg = filter.orgID === 'org-7' ? keys / orgs : 0;
    for (const orderBy of orders) {
      const page = await work(pageStatement(postgresDialect, query(orderBy, filter), numberOf, { rows }));
      expect(page.scannedTables).toStrictEqual([]);
      expect(page.rowsRead).toBeLessThanOrEqual(2 * rows.length + ofSmallOrg);
    }
  });

  // For a term that one in fifty keys has, PostgreSQL scans the index of all keys, because that is faster.
  it('read for a count only the keys of its small organization or its rare term', async () => {
    for (const filter of filters.filter(({ orgID, policy }) => orgID === 'org-7' || policy !== undefined)) {
      const { scannedTables, rowsRead } = await work(
        countStatement(postgresDialect, filter, await numbersFor(filter), now),
      );
      expect([filter, ...scannedTables]).toStrictEqual([filter]);
      expect([filter, rowsRead < keys / 10]).toStrictEqual([filter, true]);
    }
  });

  /** The work of the statements that the store sends for a call, with both kinds of plan. */
  const workFor = async (use: (store: ReturnType<typeof postgresKeyStore>) => Promise<unknown>) => {
    const { connections: heard, sent } = recordStatements(connections);
    await use(postgresKeyStore(heard, signer));
    // The plans execute each statement again and roll it back, also one that writes.
    const all = sent.filter(({ statement }) => !/^(BEGIN|COMMIT|ROLLBACK)/.test(textOf(statement)));
    expect(all.length).toBeGreaterThan(0);
    return eachOf(all);
  };
  const eachOf = async (sent: readonly SentStatement[]) => {
    const found: StatementWork[] = [];
    for (const one of sent) found.push(...(await plans.of(one)));
    return found;
  };
  const [first, second] = ours.map(({ keyHash }) => keyHash);
  const one = first ?? '';
  type Store = ReturnType<typeof postgresKeyStore>;
  const uses: [string, (store: Store) => Promise<unknown>][] = [
    ['a look for a key', (store) => store.find(one)],
    ['a look for a key that is not there', (store) => store.find(hashOf('unknown'))],
    ['a look for some keys', (store) => store.findMany(ours.map(({ keyHash }) => keyHash))],
    ['an update', (store) => store.update(one, (found) => anUpdate(found))],
    [
      'updates of several keys at once',
      (store) => Promise.all(ours.map(({ keyHash }) => store.update(keyHash, (found) => anUpdate(found)))),
    ],
    [
      'a consumption',
      (store) =>
        store.consume(second ?? '', (key) => ({ next: key && { ...key.quota, used: key.quota.used + 1n }, result: 0 })),
    ],
    ['an import', (store) => store.add([aChange(aKey(`new ${Math.random()}`))])],
    ['the history of a key', (store) => store.historyOf(one, { last: true, limit: 5 })],
    [
      'the histories of several keys',
      (store) => store.historiesOf(ours.map((key) => ({ key, range: { last: true, limit: 5 } }))),
    ],
    ['the definition of a version', (store) => store.definitionAt(one, 1)],
    ['the names of identifiers', (store) => store.namesOf([one, hashOf('absent')], 'acme')],
    [
      'the keys that expire',
      async (store) => {
        const pass = (upTo: bigint) =>
          store.passExpiring({ name: '0', earliest: 0n, upTo }, (key) => noticeOf(key, 'expired', now, []));
        await pass(seconds + 980n);
        expect((await pass(seconds + 985n)).damaged).toBeGreaterThan(0);
      },
    ],
    [
      'notices',
      async (store) => {
        const notice = noticeOf(aKey('ours 0'), 'expired', now, [Math.random()]);
        expect(await store.addNotices([notice])).toBe(1);
        await store.notice('evt_unknown');
        await store.purgeNotices(new Date(0));
      },
    ],
    ['the identifiers that are silent', (store) => store.silent(new Date(1_001_000))[Symbol.asyncIterator]().next()],
    ['the identifiers that retire', (store) => store.retiring(new Date(1_001_000))[Symbol.asyncIterator]().next()],
  ];
  it('read few rows to add uses, and for the days of keys and organizations', async () => {
    const { connections: heard, sent } = recordStatements(connections);
    const uses = createUses(createPgSession(heard), createPgWideReader(heard));
    const day = 20_000;
    await uses.add(
      ours.map(({ keyHash, identity }) => ({
        keyHash,
        identity,
        day,
        allowed: 1n,
        denied: 0n,
        lastUsed: 1,
        identifiers,
      })),
    );
    await uses.ofKeys(ours, { from: day - 399, to: day });
    await uses.ofOrgs(['acme', 'org-7'], { from: day - 399, to: day });
    const all = sent.filter(({ statement }) => !/^(BEGIN|COMMIT|ROLLBACK)/.test(textOf(statement)));
    expect(all).toHaveLength(7 + ours.length - 1);
    for (const { scannedTables, rowsRead } of await eachOf(all)) {
      expect(scannedTables).toStrictEqual([]);
      expect(rowsRead).toBeLessThan(500);
    }
  });

  it('read few rows to find a new change', async () => {
    const { connections: heard, sent } = recordStatements(connections);
    const notifier = createFeedNotifier(createPgSession(heard), { everyMs: 60_000 });
    notifier.follow(() => undefined);
    await until(() => Promise.resolve(sent.length > 0), 'A read of the feed');
    notifier.stop();
    for (const { scannedTables, rowsRead } of await eachOf(sent)) {
      expect(scannedTables).toStrictEqual([]);
      expect(rowsRead).toBeLessThan(10);
    }
  });

  it.each(uses)('read few rows for %s, with either kind of plan', async (_, use) => {
    for (const { scannedTables, rowsRead } of await workFor(use)) {
      // This database has no other head than that of the notices.
      expect(scannedTables.filter((table) => table !== 'heads')).toStrictEqual([]);
      expect(rowsRead).toBeLessThan(100);
    }
  });
});
