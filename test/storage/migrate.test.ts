import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createSearchIndexes,
  dropSearchIndexes,
  migrations,
  schemaVersion,
  requireSchema,
  versionAfter,
} from '../../src/storage/sql/schema.js';
import { migrate } from '../../src/storage/sqlite/connection.js';
import { hookTo } from '../support/webhooks.js';
import { startApp } from '../support/app.js';
import { makeOwnCommandLine } from '../support/cli.js';
import { hashOf } from '../support/factories.js';
import { newestCursor } from '../support/feed.js';
import { describeEngines, makeOwnPlace, type EnginePlace } from '../support/engines.js';
import { temporaryFolder } from '../support/folder.js';

let database: Database.Database;
beforeEach(async () => {
  database = new Database(join(await temporaryFolder(), 'keyfront.db'));
});
afterEach(() => void database.close());

/** The present migrations and one of a later version. */
const released = migrations.map(({ sqlite }) => sqlite);
const steps = [
  ...released,
  "ALTER TABLE keys ADD COLUMN note TEXT;\nCREATE INDEX keys_by_note ON keys (note);\nINSERT INTO settings VALUES ('a', 'b');\n",
];

/** A trigger contains a semicolon; its statement ends with END. */
const statementsOf = (step: string) =>
  step
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');

/** The schema, every row and the version. */
function contents(): unknown {
  const schema = database
    .prepare<[], { name: string; type: string }>('SELECT * FROM sqlite_schema ORDER BY type, name')
    .all();
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => name);
  return {
    version: database.pragma('user_version', { simple: true }),
    schema,
    rows: tables.map((name) => database.prepare(`SELECT * FROM "${name}"`).all()),
  };
}

describe('D-10 a migration', () => {
  const faults = steps.flatMap((step, index) =>
    statementsOf(step).map((_, count) => ({ index, count, version: versionAfter(index + 1) })),
  );

  it.each(faults)(
    'leaves schema, rows and version unchanged when version $version fails after $count statements, and succeeds the next time',
    ({ index, count }) => {
      migrate(database, steps.slice(0, index));
      const before = contents();
      const statements = statementsOf(steps[index] ?? '').slice(0, count);
      const broken = [...statements, 'INSERT INTO nowhere VALUES (1)'].join(';\n');
      expect(() => migrate(database, [...steps.slice(0, index), broken])).toThrow('no such table: nowhere');
      expect(contents()).toStrictEqual(before);
      migrate(database, steps);
      expect(database.pragma('user_version', { simple: true })).toBe(versionAfter(steps.length));
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    },
  );

  it('rejects a database of a newer version, leaves it unchanged, and names the remedy', () => {
    migrate(database, steps);
    const before = contents();
    expect(() => migrate(database)).toThrow(
      `it has schema version ${schemaVersion + 1}, and this Keyfront supports ${schemaVersion}; use a newer Keyfront`,
    );
    expect(contents()).toStrictEqual(before);
  });

  it.each([1, 4])('of an unreleased build, version %i, is rejected with the way to its keys', (version) => {
    database.exec('CREATE TABLE keys (key_hash TEXT PRIMARY KEY) STRICT');
    database.pragma(`user_version = ${version}`);
    const before = contents();
    expect(() => migrate(database)).toThrow(
      `it has schema version ${version}: another version of Keyfront, from before the first release, wrote it. With that version, run`,
    );
    expect(contents()).toStrictEqual(before);
  });

  it.each([
    [
      'sqlite',
      [
        '23da5922fb45d331',
        'd18c012c2f36c147',
        '8189c073c4545a4f',
        '2ac6781c227b8193',
        'cd8ca3c7ced2ddb1',
        'db9752dce07a5065',
        '54cec5e913367c2e',
        '4a13f49880a7adaf',
        'e7bc36188fe2f161',
        '0ef19a326b5a71d9',
      ],
    ],
    [
      'postgres',
      [
        '002b20c4480f96f4',
        'c95c388d7ce1ad46',
        '8c79148ca6cb42d0',
        '82defee6f47a8db1',
        '361801ebde22c879',
        'cd17fab66a560368',
        '8e95ad61d8814c31',
        '1467a86eee2d06b0',
        'b434b804092b7c2a',
        '6cc8325b4b9bf93f',
      ],
    ],
  ] as const)('is not changed once databases have it: %s', (engine, digests) => {
    const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
    const statements = migrations.map((migration) => migration[engine].replaceAll(/\s*--.*/g, ''));
    expect(statements.map((text) => digest(text.replaceAll(/\s+/g, ' ')))).toStrictEqual(digests);
  });

  it('creates the same indexes of searches as the end of a load', () => {
    migrate(database);
    const before = contents();
    for (const statement of dropSearchIndexes) database.exec(statement);
    expect(contents()).not.toStrictEqual(before);
    for (const statement of createSearchIndexes) database.exec(statement);
    const withoutPages = (found: unknown) => JSON.stringify(found).replaceAll(/"rootpage":\d+/g, '');
    expect(withoutPages(contents())).toBe(withoutPages(before));
  });

  it.each([
    ['an older schema that is migrated', 101, { allowOlder: true }],
    ['the schema of its version', 102, {}],
    ['a newer schema that is read', 103, { allowNewer: true }],
  ])('is not required for %s', (_, found, permission) => {
    expect(() => requireSchema(found, { known: 102, ...permission })).not.toThrow();
  });

  it.each([
    ['an older schema if only newer ones are permitted', 101, { allowNewer: true }, 'start the service once'],
    ['a newer schema if only older ones are permitted', 103, { allowOlder: true }, 'use a newer Keyfront'],
    [
      'an older schema that may not be migrated',
      101,
      {},
      'it has schema version 101, and this Keyfront supports 102; start the service once to bring it up to date',
    ],
  ])('is required, with its remedy, for %s', (_, found, permission, advice) => {
    expect(() => requireSchema(found, { known: 102, ...permission })).toThrow(advice);
  });
});

/** The statements that undo migration 6. */
const beforeNotices = [
  ...['notices_by_event', 'notices_by_key', 'notices_by_time'].map((index) => `DROP INDEX ${index}`),
  ...['event_id', 'notice'].map((column) => `ALTER TABLE history DROP COLUMN ${column}`),
];

/** The statement that undoes migration 10. */
const beforeGateways = 'DROP TABLE gateways';
/** The statements that undo migrations 9 and 10. */
const beforeProposals = [
  beforeGateways,
  'DROP TABLE proposals',
  'DROP TABLE proposal_steps',
  'ALTER TABLE history DROP COLUMN proposal',
];
/** The statements that undo migrations 8 to 10. */
const beforeEventTypes = [...beforeProposals, 'ALTER TABLE webhooks DROP COLUMN event_types'];

/** The statements that undo migrations 7 to 10. */
const beforeUses = [
  ...beforeEventTypes,
  'DROP INDEX keys_by_use',
  'ALTER TABLE keys DROP COLUMN last_used',
  'DROP TABLE key_days',
  'DROP TABLE org_days',
  'DROP INDEX silent_identifiers',
  'DROP INDEX identifiers_by_key',
  'ALTER TABLE identifiers DROP COLUMN last_used',
  'ALTER TABLE identifiers DROP COLUMN silence',
];
/** The statements that undo migrations 5 to 10. */
const beforeIdentifiers = [
  ...beforeUses,
  ...beforeNotices,
  'DROP TABLE identifiers',
  'ALTER TABLE keys DROP COLUMN identifiers',
];

describeEngines('a database of the first migration', (engine) => {
  it('is migrated at a start, which keeps its keys and lists them by expiry', async () => {
    const place = await makeOwnPlace(engine, { isEmpty: true });
    const before = await startApp(place.env);
    await before.importKeys(
      { key_id: 'later', org_id: 'acme', expires: 20 },
      { key_id: 'sooner', org_id: 'acme', expires: 10 },
      { key_id: 'never', org_id: 'acme' },
    );
    await before.close();
    await place.run(
      'DROP INDEX keys_by_creation',
      ...(place.database ? [] : ['ALTER TABLE keys DROP COLUMN creation']),
      ...beforeIdentifiers,
      'DROP TABLE policies',
      'DROP INDEX keys_by_end',
      'DROP INDEX keys_by_org_end',
      'CREATE INDEX keys_by_expiry ON keys (expires) WHERE expires >= 1',
      place.database ? "UPDATE settings SET value = '101' WHERE name = 'schema_version'" : 'PRAGMA user_version = 101',
    );
    const after = await startApp(place.env);
    const response = await after.graphql('{ orgKeys(orderBy: EXPIRES) { edges { node { keyID } } } }');
    expect(response.body).toMatchObject({
      data: { orgKeys: { edges: ['never', 'sooner', 'later'].map((keyID) => ({ node: { keyID } })) } },
    });
    await after.close();
  });
});

describeEngines('a database of the second migration', (engine) => {
  it('is migrated at a start, which keeps its keys and lists them by creation', async () => {
    const place = await makeOwnPlace(engine, { isEmpty: true });
    const before = await startApp(place.env);
    await before.importKeys(
      { key_id: 'third', org_id: 'acme', date_created: '2024-07-03T09:12:30.1239Z' },
      { key_id: 'fourth', org_id: 'acme', date_created: '2024-07-03T09:12:30.124Z' },
      { key_id: 'second', org_id: 'acme', date_created: '2024-07-03T09:12:30Z' },
      { key_id: 'first', org_id: 'acme', date_created: '1969-07-20T20:17:40.5Z' },
    );
    await before.close();
    await place.run(
      ...beforeIdentifiers,
      'DROP TABLE policies',
      'DROP INDEX keys_by_creation',
      ...(place.database ? [] : ['ALTER TABLE keys DROP COLUMN creation']),
      place.database ? "UPDATE settings SET value = '102' WHERE name = 'schema_version'" : 'PRAGMA user_version = 102',
    );
    const after = await startApp(place.env);
    await after.importKeys({ key_id: 'fifth', org_id: 'globex' });
    const response = await after.graphql('{ orgKeys(orderBy: CREATED) { edges { node { keyID } } } }');
    const inOrder = ['first', 'second', 'third', 'fourth', 'fifth'];
    expect(response.body).toMatchObject({
      data: { orgKeys: { edges: inOrder.map((keyID) => ({ node: { keyID } })) } },
    });
    await after.close();
  });
});

describeEngines('a database of the fourth migration', (engine) => {
  it('is migrated at a start, which keeps its keys and rotates them', async () => {
    const place = await makeOwnPlace(engine, { isEmpty: true });
    const before = await startApp(place.env);
    await before.importKeys({ key_id: 'k1', org_id: 'acme' });
    await before.close();
    await place.run(
      ...beforeIdentifiers,
      place.database ? "UPDATE settings SET value = '104' WHERE name = 'schema_version'" : 'PRAGMA user_version = 104',
    );
    const after = await startApp(place.env);
    const response = await after.graphql(
      'mutation { rotateOrgKey(keyID: "k1") { version orgKey { rotation { oldKeyID } } } }',
    );
    expect(response.body).toMatchObject({
      data: { rotateOrgKey: { version: 2, orgKey: { rotation: { oldKeyID: 'k1' } } } },
    });
    await after.close();
  });
});

describeEngines('a database of the sixth migration', (engine) => {
  it('is migrated at a start, which keeps its keys and notes their use', async () => {
    const place = await makeOwnPlace(engine, { isEmpty: true });
    const before = await startApp(place.env);
    await before.importKeys({ key_id: 'k1', org_id: 'acme' }, { key_id: 'k2', org_id: 'acme' });
    await before.close();
    await place.run(
      ...beforeUses,
      place.database ? "UPDATE settings SET value = '106' WHERE name = 'schema_version'" : 'PRAGMA user_version = 106',
    );
    const after = await startApp(place.env);
    await after.graphql('mutation { verifyKey(keyID: "k1") { code } }');
    await after.app.flushUses();
    const response = await after.graphql('{ orgKeys(orderBy: LAST_USED) { edges { node { keyID lastUsedAt } } } }');
    const nodes = [
      { keyID: 'k2', lastUsedAt: null },
      { keyID: 'k1', lastUsedAt: '2026-01-31T12:00:00.000Z' },
    ];
    expect(response.body).toMatchObject({ data: { orgKeys: { edges: nodes.map((node) => ({ node })) } } });
    await after.close();
  });
});

describeEngines('a database of the seventh migration', (engine) => {
  it('is migrated at a start, which keeps its webhooks for all types and adds others', async () => {
    const place = await makeOwnPlace(engine);
    const before = await startApp(place.env);
    await hookTo(before, 'http://127.0.0.1:1/all');
    await before.close();
    await place.run(
      ...beforeEventTypes,
      place.database ? "UPDATE settings SET value = '107' WHERE name = 'schema_version'" : 'PRAGMA user_version = 107',
    );
    const after = await startApp(place.env);
    await hookTo(after, 'http://127.0.0.1:1/some', { eventTypes: ['orgKey.expired'] });
    const { intact, damaged } = await after.app.services.webhooks.list();
    expect(damaged).toStrictEqual([]);
    const types = intact.map(({ eventTypes }) => eventTypes?.join());
    expect(types).toHaveLength(2);
    expect(types).toEqual(expect.arrayContaining([undefined, 'orgKey.expired']));
    // The types are signed.
    await after.close();
    await place.tamper("UPDATE webhooks SET event_types = 'orgKey.deleted' WHERE event_types IS NOT NULL");
    const tampered = await startApp(place.env);
    expect((await tampered.app.services.webhooks.list()).damaged).toHaveLength(1);
    await tampered.close();
  });
});

describeEngines('a database of the eighth migration', (engine) => {
  it('is migrated at a start, which keeps its histories and adds changes of proposals to them', async () => {
    const place = await makeOwnPlace(engine);
    const before = await startApp(place.env);
    await before.importKeys({ key_id: 'k1', org_id: 'acme', alias: 'one' });
    await before.close();
    await place.run(
      ...beforeProposals,
      place.database ? "UPDATE settings SET value = '108' WHERE name = 'schema_version'" : 'PRAGMA user_version = 108',
    );
    const after = await startApp(place.env);
    const secret = (await after.issue('service', { label: 'another person' })).secret;
    const change = 'change: { patch: { patch: { alias: "two" } } }';
    const proposed = await after.graphql(`mutation { proposeKeyChange(keyID: "k1", ${change}) { id } }`);
    const { id } = (proposed.body['data'] as { proposeKeyChange: { id: string } }).proposeKeyChange;
    await after.graphql(
      `mutation { approveKeyProposal(id: "${id}") { state } }`,
      {},
      { 'x-svc-authorization': secret },
    );
    const response = await after.graphql(
      '{ orgKey(by: { keyID: "k1" }) { history { edges { node { operation proposalID } } } } }',
    );
    expect(response.body).toMatchObject({
      data: {
        orgKey: {
          history: {
            edges: [
              { node: { operation: 'IMPORT', proposalID: null } },
              { node: { operation: 'UPDATE', proposalID: id } },
            ],
          },
        },
      },
    });
    const reports = [];
    for await (const report of after.app.services.store.verifyIntegrity()) reports.push(report.isHistoryIntact);
    expect(reports).toEqual([true]);
    await after.close();
  });
});

describeEngines('a database of an unreleased version', (engine) => {
  const layoutOf = (commit: string, place: EnginePlace) =>
    readFile(join(import.meta.dirname, 'layouts', `${commit}.${place.database ? 'postgres' : 'sqlite'}.sql`), 'utf8');
  /** What a start and a command that only reads report. */
  const openings = async (place: EnginePlace) => {
    const c = await makeOwnCommandLine();
    const reports: string[] = [];
    for (const args of [['serve'], ['check']]) {
      const { code, stderr } = await c.keyfront(args, { ...place.env, PORT: '0', LOG_LEVEL: 'silent' });
      expect([args, code]).toStrictEqual([args, 1]);
      reports.push(stderr);
    }
    return reports;
  };
  const tables = (place: EnginePlace) =>
    place.rows(
      place.database
        ? 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename'
        : 'SELECT name, sql FROM sqlite_schema ORDER BY name',
    );
  let place: EnginePlace;
  beforeEach(async () => {
    place = await makeOwnPlace(engine, { isEmpty: true });
    if (!place.database) await writeFile(join(place.folder, 'keyfront.db'), '', { mode: 0o600 });
  });

  it('is rejected, with what to do, and stays as it is', async () => {
    await place.run(await layoutOf('984c4d5f', place));
    const before = await tables(place);
    for (const report of await openings(place)) {
      expect(report).toContain(
        'it has schema version 4: another version of Keyfront, from before the first release, wrote it. With that version, run',
      );
      expect(report).toContain('`keyfront keys export --with-secrets > keys.jsonl`');
      expect(report).toContain('does not have histories, versions, deleted keys, credentials and webhooks.');
    }
    expect(await tables(place)).toStrictEqual(before);
  });

  it('is rejected before it is migrated if it has an older number', async () => {
    await place.run(await layoutOf('984c4d5f', place), 'DROP TABLE heads', 'DROP TABLE receipts');
    await place.run(place.database ? "UPDATE settings SET value = '2'" : 'PRAGMA user_version = 2');
    const before = await tables(place);
    for (const report of await openings(place)) expect(report).toContain('it has schema version 2: another version');
    expect(await tables(place)).toStrictEqual(before);
  });

  it.skipIf(engine.name.startsWith('PostgreSQL'))(
    'is not reported as one of a newer version if it has a higher number (that commit had number 5 in SQLite only)',
    async () => {
      await place.run(await layoutOf('fc690e8e', place));
      for (const report of await openings(place)) {
        expect(report).toContain('it has schema version 5: another version of Keyfront, from before');
        expect(report).not.toContain('use a newer Keyfront');
      }
    },
  );
});

describeEngines('a database of the ninth migration', (engine) => {
  it('is migrated at a start, and knows what gateways acknowledge from then on', async () => {
    const place = await makeOwnPlace(engine);
    const before = await startApp(place.env);
    await before.importKeys({ key_id: 'k1', org_id: 'acme' });
    await before.close();
    await place.run(
      beforeGateways,
      place.database ? "UPDATE settings SET value = '109' WHERE name = 'schema_version'" : 'PRAGMA user_version = 109',
    );
    const after = await startApp(place.env);
    const { gateways, store } = after.app.services;
    const cursor = await newestCursor(after, place);
    await gateways.acknowledge({ orgID: undefined, name: 'edge-1', cursor, digest: undefined, at: after.clock.now });
    const key = await store.find(hashOf('k1'));
    expect(await gateways.deployments(key ? [key] : [], { limit: 10 })).toMatchObject([
      [{ version: 1, isCurrent: true }],
    ]);
    await after.close();
  });
});
