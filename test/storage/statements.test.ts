import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOrders, type KeyOrder } from '../../src/keys/key-query.js';
import { postgresDialect, sqliteDialect } from '../../src/storage/sql/dialect.js';
import {
  candidatesStatement,
  countStatement,
  pageStatement,
  termCountStatement,
} from '../../src/storage/sql/keys/key-query.js';
import { startApp, type TestApp } from '../support/app.js';
import { describeEngines, sqlite, type EnginePlace } from '../support/engines.js';
import { errorsOf, sendRequest } from '../support/responses.js';
import { nodesOf, sourceFiles } from '../support/source.js';

const files = sourceFiles();
const keyOrderNames = Object.keys(keyOrders) as KeyOrder[];
const isSQL = (text: string) => /\b(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE|WHERE|ORDER BY|LIMIT|JOIN)\b/.test(text);

/** The method of the database that a node is an argument of. */
function callOf({ parent }: ts.Node): string | undefined {
  const isCall = ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression);
  const name = isCall ? parent.expression.name.text : '';
  return ['prepare', 'exec', 'pragma'].includes(name) ? name : undefined;
}

describe('D-15 a statement', () => {
  it('has a parameter for every value that selects a page of keys', () => {
    const value = '\u0001 no value stands in a statement';
    const numberOf = () => 1_234_567n;
    const statements = keyOrderNames.flatMap((orderBy) =>
      [true, false].flatMap((descending) => {
        const filter = {
          orgID: value,
          aliasPrefix: value,
          aliasContains: value,
          tagsAll: [value],
          policy: value,
          apiID: value,
        };
        const position = { value, keyHash: value };
        const query = { filter, orderBy, descending, limit: 7, now: new Date(0) };
        return [
          termCountStatement(query, numberOf),
          ...[sqliteDialect, postgresDialect].flatMap((dialect) => [
            pageStatement(dialect, { ...query, after: position, before: position }, numberOf),
            pageStatement(dialect, query, numberOf, { isTermCommon: true, rows: [1_234_567n] }),
            candidatesStatement(dialect, filter, numberOf),
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
  ...[
    'İ',
    'ß',
    'ﬀ',
    '\u00c5',
    'A\u030a',
    '\u202e',
    '\u200b',
    '\ufeff',
    '🔑',
    '👩‍👩‍👧',
    '\u{10ffff}',
    '🔑\u{10ffff}',
    '\u007f',
  ],
];

/** An organization with the text in its name, or with the index if an identifier must not hold the text. */
const orgOf = (text: string, index: number) => `o${/[/\\\p{Cc}\p{Cf}]/u.test(text) ? String(index) : text}`;

describeEngines('D-15 a text that looks like a statement', (engine) => {
  let t: TestApp;
  let place: EnginePlace;
  beforeAll(async () => {
    place = await engine.make();
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

  it('is an ordinary text that an alias contains', async () => {
    for (const text of naughty) {
      for (const order of [{}, { order_by: 'KEY_HASH' }]) {
        const { status, body } = await list({ alias_contains: text, limit: '100', ...order });
        expect([status, text]).toStrictEqual([200, text]);
        const wanted = naughty.flatMap((alias, index) =>
          alias.toLowerCase().includes(text.toLowerCase()) ? [`key-${index}`] : [],
        );
        expect([text, keysIn(body).toSorted()]).toStrictEqual([text, wanted.toSorted()]);
      }
    }
  });

  // Parameters are read before a statement is sent to either engine.
  it.runIf(engine === sqlite)(
    'is rejected with INVALID as an order, state, cursor, number or unknown parameter, and never causes an internal error',
    async () => {
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
    },
  );
});
