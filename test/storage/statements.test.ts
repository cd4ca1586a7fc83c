import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOrders, type KeyOrder } from '../../src/keys/key-query.js';
import { postgresDialect, sqliteDialect } from '../../src/storage/sql/dialect.js';
import { countStatement, pageStatement, termCountStatement } from '../../src/storage/sql/keys/key-query.js';
import { startApp, type TestApp } from '../support/app.js';
import { describeEngines, type EnginePlace } from '../support/engines.js';
import { errorsOf, sendRequest } from '../support/responses.js';
import { nodesOf, sourceFiles } from '../support/source.js';

const files = sourceFiles();
const keyOrderNames = Object.keys(keyOrders) as KeyOrder[];
const isSQL = (text: string) => /\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE|WHERE|ORDER BY|LIMIT|JOIN)\b/.test(text);

/** The expressions in templates that look like SQL, or that are passed to a method of the database. */
function interpolations(): string[] {
  return files.flatMap(({ path, tree }) =>
    nodesOf(tree)
      .filter((node) => ts.isTemplateExpression(node))
      .filter((node) => isSQL(node.getText()) || callOf(node) !== undefined)
      .flatMap((node) => node.templateSpans.map((span) => `${path}: ${span.expression.getText()}`)),
  );
}

/** The method of the database that a node is an argument of. */
function callOf({ parent }: ts.Node): string | undefined {
  const isCall = ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression);
  const name = isCall ? parent.expression.name.text : '';
  return ['prepare', 'exec', 'pragma'].includes(name) ? name : undefined;
}

describe('D-15 a statement', () => {
  it('contains only our own names and numbers: every interpolation is listed here', () => {
    // Lists of our columns, names of our tables, fragments of our SQL and numbers of parameters. Update with `vitest -u`.
    expect([...new Set(interpolations())].toSorted().join('\n')).toMatchInlineSnapshot(`
      "storage/postgres/advisory-lock.ts: key
      storage/postgres/copy-target.ts: isWithin
      storage/postgres/copy-target.ts: names.join(', ')
      storage/postgres/copy-target.ts: table
      storage/postgres/copy-target.ts: txColumn
      storage/postgres/copy-target.ts: txValue
      storage/postgres/copy-target.ts: unnestRows('r', columns, 1).sql
      storage/postgres/key-writes.ts: assignments.join(', ')
      storage/postgres/key-writes.ts: changes
      storage/postgres/key-writes.ts: currentPosition
      storage/postgres/key-writes.ts: entry.sql
      storage/postgres/key-writes.ts: from
      storage/postgres/key-writes.ts: input.sql
      storage/postgres/key-writes.ts: listOf(entryPairs, 0)
      storage/postgres/key-writes.ts: listOf(entryPairs, 1)
      storage/postgres/key-writes.ts: listOf(keyPairs, 0)
      storage/postgres/key-writes.ts: listOf(keyPairs, 1)
      storage/postgres/key-writes.ts: more
      storage/postgres/key-writes.ts: quotaChange.sql
      storage/postgres/key-writes.ts: quotaNames.join(', ')
      storage/postgres/key-writes.ts: quotaNames.map((name) => \`q.\${name}\`).join(', ')
      storage/postgres/key-writes.ts: receipt.sql
      storage/postgres/key-writes.ts: receiptNames.join(', ')
      storage/postgres/key-writes.ts: receiptNames.map((name) => \`r.\${name}\`).join(', ')
      storage/postgres/key-writes.ts: slots
      storage/postgres/key-writes.ts: terms.added
      storage/postgres/key-writes.ts: terms.added + 1
      storage/postgres/key-writes.ts: terms.dropped
      storage/postgres/key-writes.ts: terms.dropped + 1
      storage/postgres/migrate.ts: nextPosition
      storage/postgres/notifier.ts: channel
      storage/postgres/wide-reader.ts: isWithin
      storage/postgres/wide-reader.ts: keyColumns
      storage/postgres/wide-reader.ts: sql
      storage/sql/change-feed.ts: entryColumns
      storage/sql/change-feed.ts: entrySize
      storage/sql/change-feed.ts: feed.horizon
      storage/sql/change-feed.ts: feed.isAfter
      storage/sql/change-feed.ts: feed.order('ASC')
      storage/sql/change-feed.ts: feed.order('DESC')
      storage/sql/change-feed.ts: feed.tx
      storage/sql/change-feed.ts: flag(\`EXISTS (SELECT 1 FROM history WHERE \${feed.tx} >= (SELECT \${feed.horizon}))\`)
      storage/sql/change-feed.ts: flag(feed.isBeyond)
      storage/sql/change-feed.ts: hexOf('h.key_hash')
      storage/sql/change-feed.ts: inList('$1', 'bigint')
      storage/sql/change-feed.ts: isComplete
      storage/sql/change-feed.ts: newest
      storage/sql/change-feed.ts: types.bytes
      storage/sql/copy-store.ts: chunkSize
      storage/sql/copy-store.ts: isWithin
      storage/sql/copy-store.ts: namesOf(columns).join(', ')
      storage/sql/copy-store.ts: order.join(', ')
      storage/sql/copy-store.ts: table
      storage/sql/credential-head.ts: name
      storage/sql/credential-head.ts: rootName
      storage/sql/credential-store.ts: forUpdate()
      storage/sql/credential-store.ts: inList('$1', 'text')
      storage/sql/credential-store.ts: withState
      storage/sql/dialect.ts: feedHorizon
      storage/sql/dialect.ts: of
      storage/sql/dialect.ts: parameter
      storage/sql/heads.ts: insert
      storage/sql/keys/checkpoints.ts: dialect.inList('$1', 'text')
      storage/sql/keys/counters.ts: hexOf('k.key_hash')
      storage/sql/keys/counters.ts: inList('$1', 'text')
      storage/sql/keys/counters.ts: integerMember('k.definition', 'quotaMax')
      storage/sql/keys/counters.ts: integerMember('k.definition', 'quotaRenewalRate')
      storage/sql/keys/counters.ts: isInTime
      storage/sql/keys/counters.ts: pageSize
      storage/sql/keys/counters.ts: select
      storage/sql/keys/history-batches.ts: entryColumns
      storage/sql/keys/history-batches.ts: entrySize
      storage/sql/keys/history-batches.ts: isInSpan
      storage/sql/keys/history-batches.ts: walked
      storage/sql/keys/key-maintenance.ts: dialect.rowID('$3')
      storage/sql/keys/key-maintenance.ts: entryColumns
      storage/sql/keys/key-maintenance.ts: entrySize
      storage/sql/keys/key-maintenance.ts: forUpdate('k')
      storage/sql/keys/key-maintenance.ts: hashes('$1')
      storage/sql/keys/key-maintenance.ts: hexOf('h.key_hash')
      storage/sql/keys/key-maintenance.ts: inList('$1', 'bigint')
      storage/sql/keys/key-maintenance.ts: inList('$1', 'text')
      storage/sql/keys/key-maintenance.ts: isOfHash('$1', '$2')
      storage/sql/keys/key-maintenance.ts: isOfLostKey(dialect, 'w.hash', 'w.place')
      storage/sql/keys/key-maintenance.ts: keyColumns
      storage/sql/keys/key-maintenance.ts: selectKeys
      storage/sql/keys/key-maintenance.ts: walked
      storage/sql/keys/key-query.ts: [...conditions, isOfOrg].join(' AND ')
      storage/sql/keys/key-query.ts: add(BigInt(limit))
      storage/sql/keys/key-query.ts: conditions.join(' AND ')
      storage/sql/keys/key-query.ts: descending ? 'DESC' : 'ASC'
      storage/sql/keys/key-query.ts: dialect.isOfHash(add(position.keyHash), place)
      storage/sql/keys/key-query.ts: from
      storage/sql/keys/key-query.ts: hasKeys
      storage/sql/keys/key-query.ts: id
      storage/sql/keys/key-query.ts: isInTime
      storage/sql/keys/key-query.ts: isOfHash('w.hash', 'w.place')
      storage/sql/keys/key-query.ts: isOfOrg
      storage/sql/keys/key-query.ts: isOfTerm
      storage/sql/keys/key-query.ts: isTag
      storage/sql/keys/key-query.ts: limit
      storage/sql/keys/key-query.ts: lower
      storage/sql/keys/key-query.ts: maxSortedRows + 1
      storage/sql/keys/key-query.ts: numbers
      storage/sql/keys/key-query.ts: order
      storage/sql/keys/key-query.ts: org
      storage/sql/keys/key-query.ts: owner
      storage/sql/keys/key-query.ts: page
      storage/sql/keys/key-query.ts: place
      storage/sql/keys/key-query.ts: rangeOf(query, add)
      storage/sql/keys/key-query.ts: rangeOf(terms, add)
      storage/sql/keys/key-query.ts: sql
      storage/sql/keys/key-query.ts: upper
      storage/sql/keys/key-query.ts: wanted
      storage/sql/keys/key-rows.ts: hashes('$1')
      storage/sql/keys/key-rows.ts: isInTime
      storage/sql/keys/key-rows.ts: isOfHash('$1', '$2')
      storage/sql/keys/key-rows.ts: isOfHash('w.hash', 'w.place')
      storage/sql/keys/key-rows.ts: isOfLostKey(dialect, 'w.hash', 'w.place')
      storage/sql/keys/key-rows.ts: keyColumns
      storage/sql/keys/key-rows.ts: orgID
      storage/sql/keys/key-rows.ts: sizes
      storage/sql/keys/key-rows.ts: wanted
      storage/sql/keys/key-states.ts: dialect.hashes('$1')
      storage/sql/keys/key-states.ts: dialect.inList('$1', 'bigint')
      storage/sql/keys/key-states.ts: dialect.isOfHash('w.hash', 'w.place')
      storage/sql/keys/key-states.ts: entryColumns
      storage/sql/keys/key-states.ts: keyColumns
      storage/sql/keys/key-states.ts: pageSize
      storage/sql/keys/key-states.ts: walked
      storage/sql/keys/quota-outbox.ts: dialect.rowID('$3')
      storage/sql/keys/receipts.ts: pageSize
      storage/sql/layout-1.ts: w.bytes
      storage/sql/layout-1.ts: w.clustered
      storage/sql/layout-1.ts: w.emptySHA256
      storage/sql/layout-1.ts: w.int
      storage/sql/layout-1.ts: w.newID
      storage/sql/layout-1.ts: w.nextID
      storage/sql/layout-1.ts: w.ofOrg
      storage/sql/layout-1.ts: w.rowID
      storage/sql/layout-1.ts: w.rows
      storage/sql/layout-1.ts: w.text
      storage/sql/layout-1.ts: w.thenID
      storage/sql/layout-1.ts: w.updated
      storage/sql/layout-1.ts: w.updatedClustered
      storage/sql/name-numbers.ts: inList('$1', 'text')
      storage/sql/name-numbers.ts: inList('$2', 'text')
      storage/sql/rows.ts: column
      storage/sql/rows.ts: indexedVersions + 1
      storage/sql/rows.ts: isIndexed('i')
      storage/sql/rows.ts: isOfHash('w.hash', 'w.place')
      storage/sql/rows.ts: row
      storage/sql/rows.ts: spans
      storage/sql/schema.ts: columns
      storage/sql/schema.ts: name
      storage/sql/session.ts: columns.join(', ')
      storage/sql/session.ts: columns.map((_, index) => \`$\${index + 1}\`).join(', ')
      storage/sql/session.ts: columns.map((column, index) => \`\${column} = $\${index + 2}\`).join(', ')
      storage/sql/session.ts: table
      storage/sql/settings.ts: dialect.nowMs
      storage/sql/settings.ts: hexOf('key_hash')
      storage/sql/signatures.ts: columns
      storage/sql/signatures.ts: from
      storage/sql/signatures.ts: head
      storage/sql/signatures.ts: key
      storage/sql/signatures.ts: pageSize
      storage/sql/signatures.ts: row
      storage/sql/signatures.ts: table.name
      storage/sql/webhook-store.ts: ['version', 'attempts', 'due', 'failed_at', 'last_error'].map(ifFollowing).join(', ')
      storage/sql/webhook-store.ts: condition
      storage/sql/webhook-store.ts: deliveryKinds.retry
      storage/sql/webhook-store.ts: deliveryNames.join(', ')
      storage/sql/webhook-store.ts: forUpdate()
      storage/sql/webhook-store.ts: historySpans('$2')
      storage/sql/webhook-store.ts: inList('$1', 'text')
      storage/sql/webhook-store.ts: inList('$2', 'text')
      storage/sql/webhook-store.ts: isDead
      storage/sql/webhook-store.ts: isHeldBy
      storage/sql/webhook-store.ts: isSameDelivery
      storage/sql/webhook-store.ts: isSelected
      storage/sql/webhook-store.ts: maxLeaseMs
      storage/sql/webhook-store.ts: nextOf(deliveryKinds.first)
      storage/sql/webhook-store.ts: nextOf(deliveryKinds.retry)
      storage/sql/webhook-store.ts: nowMs
      storage/sql/webhook-store.ts: recalled
      storage/sqlite/bounded-query.ts: keyColumns
      storage/sqlite/checkpoint-worker.ts: mode
      storage/sqlite/connection.ts: -1024 * cacheMiB
      storage/sqlite/connection.ts: dirname(resolve(database.name)).replaceAll("'", "''")
      storage/sqlite/connection.ts: versionAfter(index + 1)
      storage/sqlite/engine.ts: table
      storage/sqlite/key-writer.ts: assignments
      storage/sqlite/key-writer.ts: columns.map(([, value]) => value).join(', ')
      storage/sqlite/key-writer.ts: columns.map(([column]) => column).join(', ')
      storage/sqlite/key-writer.ts: org
      storage/sqlite/key-writer.ts: quotaChangeTable.columnNames.join(', ')
      storage/sqlite/key-writer.ts: quotaChangeTable.columnNames.map((name) => \`@\${name}\`).join(', ')
      storage/sqlite/key-writer.ts: quotaChangeTable.name
      storage/sqlite/key-writer.ts: table
      storage/sqlite/key-writer.ts: term"
    `);
  });

  it('has a parameter for every value that selects a page of keys', () => {
    const value = '\u0001 no value stands in a statement';
    const numberOf = () => 1_234_567n;
    const statements = keyOrderNames.flatMap((orderBy) =>
      [true, false].flatMap((descending) => {
        const filter = { orgID: value, aliasPrefix: value, tagsAll: [value], policy: value, apiID: value };
        const position = { value, keyHash: value };
        const query = { filter, orderBy, descending, limit: 7, now: new Date(0) };
        return [
          termCountStatement(query, numberOf),
          ...[sqliteDialect, postgresDialect].flatMap((dialect) => [
            pageStatement(dialect, { ...query, after: position, before: position }, numberOf),
            pageStatement(dialect, query, numberOf, true),
            countStatement(dialect, filter, numberOf, query.now),
          ]),
        ];
      }),
    );
    for (const statement of statements) expect(statement?.sql ?? '').not.toMatch(/no value|1234567/);
  });

  it('is never concatenated with a plus sign, and is prepared in one function', () => {
    const sums = files.flatMap(({ path, tree }) =>
      nodesOf(tree)
        .filter((node) => ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
        .filter((node) => isSQL(node.getText()))
        .map((node) => `${path}: ${node.getText()}`),
    );
    expect(sums).toStrictEqual([]);
    const folders = files
      .filter(({ tree }) => nodesOf(tree).some((node) => ts.isStringLiteralLike(node) && callOf(node) !== undefined))
      .map(({ path }) => path.split('/', 1)[0]);
    expect([...new Set(folders)].toSorted()).toStrictEqual(['storage']);
  });
});

describe('C-07 a transaction of SQLite', () => {
  /** Every function that runs inside one: handed to `transaction`, or to what retries and guards them. */
  const bodies = files.flatMap(({ path, tree }) =>
    nodesOf(tree)
      .filter((node) => ts.isCallExpression(node))
      .filter(({ expression }) => {
        const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
        return path.startsWith('storage/sqlite/') && ['transaction', 'read', 'write', 'retryOnBusy'].includes(name);
      })
      .flatMap(({ arguments: given }) => given)
      .filter((node) => ts.isArrowFunction(node) || ts.isFunctionExpression(node))
      .map((body) => ({ path, body })),
  );

  it('is found by this test', () => {
    expect(bodies.length).toBeGreaterThan(10);
  });

  it('awaits nothing between its begin and its commit', () => {
    const waiting = bodies.filter(({ body }) => {
      const isAsync = body.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
      return isAsync || nodesOf(body).some((node) => ts.isAwaitExpression(node));
    });
    expect(waiting.map(({ path, body }) => `${path}: ${body.getText()}`)).toStrictEqual([]);
  });

  it('is begun by hand only for a snapshot read', () => {
    const begun = files.filter(({ tree }) =>
      nodesOf(tree).some((node) => ts.isStringLiteralLike(node) && /^\s*(BEGIN|SAVEPOINT)\b/i.test(node.text)),
    );
    expect(begun.map(({ path }) => path)).toStrictEqual([
      // The server's transactions are begun and ended in one place.
      join('storage', 'postgres', 'pool.ts'),
      join('storage', 'sqlite', 'copy-source.ts'),
      join('storage', 'sqlite', 'maintenance.ts'),
    ]);
  });
});

/** Texts that inject a statement or break one if they are not parameters. */
const naughty = [
  ...["'", "''", "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE keys; --", "') OR ('a'='a", '"', '" OR ""="', '`', ';'],
  ...['--', '/*', '*/', '/**/', '\\', "\\'", '%', '%%', '_', '*', '?', '?1', '@orgID', ':org', '$1', '${1}', '{{1}}'],
  ...['NULL', 'null', 'undefined', 'true', '0', '-1', '1e308', '9223372036854775808', 'NaN', '0x00', "x'00'"],
  ...['ORDER BY 1', 'UNION SELECT name FROM sqlite_schema', "a' UNION SELECT mac FROM keys --", 'load_extension'],
  ...['a,b', 'a b', ' a', 'a ', 't:a', 'constructor', '__proto__'],
  ...['İ', 'ß', 'ﬀ', '\u00c5', 'A\u030a', '\u202e', '\u200b', '\ufeff', '🔑', '👩‍👩‍👧', '\u{10ffff}', '\u007f'],
];

/** An organization with the text in its name, or with the index if an identifier must not hold the text. */
const orgOf = (text: string, index: number) => `o${/[/\\\p{Cc}\p{Cf}]/u.test(text) ? String(index) : text}`;

describeEngines('D-15 a text that looks like a statement', ({ make }) => {
  let t: TestApp;
  let place: EnginePlace;
  beforeAll(async () => {
    place = await make();
    t = await startApp(place.env);
    await t.importKeys(
      ...naughty.map((text, index) => ({
        key_id: `key-${index}`,
        org_id: orgOf(text, index),
        alias: text,
        tags: [`tag ${text}`],
        apply_policies: [`policy ${text}`],
        access_rights: { [`api ${text}`]: { api_id: `api ${text}`, versions: ['Default'] } },
      })),
    );
  });
  afterAll(async () => {
    await t.close();
    await place.remove();
  });

  const list = async (query: Record<string, string>) =>
    sendRequest(t, 'GET', `/svc/org/keys?${new URLSearchParams(query).toString()}`);
  const keysIn = (body: Record<string, unknown>) => (body['keys'] as { key: string }[]).map(({ key }) => key);

  it('is an ordinary tag, policy, API or organization, and finds the one key with it', async () => {
    for (const [index, text] of naughty.entries()) {
      for (const query of [
        { tag: `tag ${text}` },
        { policy: `policy ${text}` },
        { api_id: `api ${text}` },
        { org_id: orgOf(text, index) },
      ]) {
        const { status, body } = await list(query);
        expect([status, JSON.stringify(query)]).toStrictEqual([200, JSON.stringify(query)]);
        // White space at the ends of a tag or policy is not kept.
        const alike = naughty.flatMap((other, at) => (other.trim() === text.trim() && text.trim() !== '' ? [at] : []));
        if (query.tag === undefined && query.policy === undefined) expect(keysIn(body)).toStrictEqual([`key-${index}`]);
        else for (const found of keysIn(body)) expect(alike.map((at) => `key-${at}`)).toContain(found);
      }
    }
  });

  it('is an ordinary prefix of an alias', async () => {
    for (const text of naughty) {
      const { status, body } = await list({ alias_prefix: text, limit: '100' });
      expect([status, text]).toStrictEqual([200, text]);
      const wanted = naughty.flatMap((alias, index) => (alias.startsWith(text) ? [`key-${index}`] : []));
      expect(keysIn(body).toSorted()).toStrictEqual(wanted.toSorted());
    }
  });

  it('is rejected with INVALID as an order, state, cursor, number or unknown parameter, and never causes an internal error', async () => {
    for (const text of naughty) {
      for (const name of ['state', 'expires_before', 'updated_since', 'limit', text]) {
        const { status, body } = await list({ [name]: text });
        const isNumber = /^-?\d+$/.test(text) && name.includes('_');
        if (isNumber) expect([200, 400]).toContain(status);
        else expect([status, body['code'], name, text]).toStrictEqual([400, 'INVALID', name, text]);
      }
      expect((await list({ after: text })).status).toBe(400);
      for (const args of [
        { after: text },
        { before: text },
        { orderBy: text },
        { filter: { states: [text] } },
        { filter: { updatedSince: text } },
      ]) {
        const response = await t.graphql(
          `query ($after: String, $before: String, $orderBy: KeyOrder, $filter: OrgKeyFilter) {
            orgKeys(first: 1, after: $after, before: $before, orderBy: $orderBy, filter: $filter) { edges { cursor } } }`,
          args,
        );
        for (const { extensions } of errorsOf(response)) expect(extensions.code).toBe('INVALID');
      }
    }
    expect(t.logs()).not.toContain('internal error');
    expect(await t.app.services.store.count({}, t.clock.now)).toBe(naughty.length);
  });
});
