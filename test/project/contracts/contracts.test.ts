import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/folder.js';
import { graphqlChanges } from './graphql-changes.mjs';
import { openAPIChanges } from './openapi-changes.mjs';

const base = `
  interface Node { id: ID! }
  type Key implements Node { id: ID! state: State! keys(first: Int, last: Int = 5): [Key!]! old: Int @deprecated(reason: "Use state.") }
  enum State { ON OFF }
  input Filter { state: State limit: Int! = 5 }
  scalar Moment
  union Found = Key | Other
  type Other { at: Moment }
  type Query { key(filter: Filter, dryRun: Boolean! = true): Key found: Found }
  type Mutation { reset(id: ID!): Key! }`;

type ChangesBetween = typeof graphqlChanges | typeof openAPIChanges;

/** The places that a client may notice, each once. */
async function places(changesBetween: ChangesBetween, before: string, after: string): Promise<string[]> {
  const changes = await changesBetween(before, after);
  return [...new Set(changes.map(({ coordinate }) => coordinate))];
}

describe('changes of the schema', () => {
  it.each([
    ['a field that is gone', 'state: State!', 'Key.state'],
    ['a deprecated field that is gone', 'old: Int @deprecated(reason: "Use state.")', 'Key.old'],
    ['an argument that is gone', ', last: Int = 5', 'Key.keys(last:)'],
    ['a value that is gone', 'OFF', 'State.OFF'],
    ['a field of an input that is gone', 'limit: Int! = 5', 'Filter.limit'],
    ['an interface that is gone', ' implements Node', 'Key'],
    ['a member of a union that is gone', ' | Other', 'Found'],
    ['a mutation that is gone', 'type Mutation { reset(id: ID!): Key! }', 'Mutation'],
    ['a response that may be null', 'state: State!', 'Key.state', 'state: State'],
    ['a response of another type', 'state: State!', 'Key.state', 'state: String!'],
    ['an argument that must be given', 'first: Int', 'Key.keys(first:)', 'first: Int!'],
    ['a new argument that must be given', 'found: Found', 'Query.found(by:)', 'found(by: Int!): Found'],
    ['a new field of an input that must be given', 'state: State limit', 'Filter.tag', 'state: State tag: Int! limit'],
    ['an argument that has lost its default, and must be given', '! = true', 'Query.key(dryRun:)', '!'],
    ['a field of an input that has lost its default, and must be given', '! = 5', 'Filter.limit', '!'],
    ['a type that has become another', 'scalar Moment', 'Moment', 'enum Moment { NOW }'],
  ])('rejects %s', async (_, part, place, replacement = '') => {
    expect(base).toContain(part);
    expect(await places(graphqlChanges, base, base.replace(part, replacement))).toContain(place);
  });

  it.each([
    ['a new value, for which clients may have no case', 'ON OFF', 'State.NEW', 'ON OFF NEW'],
    ['a new member of a union', 'Key | Other', 'Found', 'Key | Other | Third'],
    ['another default', 'last: Int = 5', 'Key.keys(last:)', 'last: Int = 6'],
    ['a new default', 'first: Int', 'Key.keys(first:)', 'first: Int = 5'],
  ])('rejects %s, which may break a client', async (_, part, place, replacement) => {
    const changed = `${base.replace(part, replacement)} type Third { at: Moment }`;
    expect(await places(graphqlChanges, `${base} type Third { at: Moment }`, changed)).toEqual([place]);
  });

  it.each([
    ['nothing', '', ''],
    ['a description', 'scalar Moment', '"A moment." scalar Moment'],
    ['a new field', 'at: Moment', 'at: Moment until: Moment'],
    ['a new type', 'scalar Moment', 'scalar Moment scalar Period'],
    ['a response that is no longer null', 'at: Moment', 'at: Moment!'],
    ['an argument that may now be left out', 'reset(id: ID!)', 'reset(id: ID)'],
    ['a deprecation', 'at: Moment', 'at: Moment @deprecated(reason: "It is always noon.")'],
    ['another order', 'ON OFF', 'OFF ON'],
  ])('accepts %s without a message', async (_, part, replacement) => {
    expect(await places(graphqlChanges, base, base.replace(part, replacement))).toEqual([]);
  });
});

describe('changes of the subgraph', () => {
  const subgraph = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
    type Key @key(fields: "id") @key(fields: "hash") { id: ID! hash: ID! state: Int }
    extend type Query { key: Key }`;
  const on = (part: string, replacement: string) =>
    places(graphqlChanges, subgraph, subgraph.replace(part, replacement));

  it('rejects a removed field of a type, also of one that is only extended here', async () => {
    expect(await on(' state: Int', '')).toEqual(['Key.state']);
    expect(await on('{ key: Key }', '{ other: Key }')).toEqual(['Query.key']);
  });

  it('rejects a removed key by which a router joins an entity', async () => {
    expect(await on('@key(fields: "hash")', '')).toEqual(['Key']);
    expect(await on('@key(fields: "id")', '@key(fields: "id hash")')).toEqual(['Key']);
    expect(await on('@key(fields: "id")', '@key(fields: "id", resolvable: false)')).toEqual(['Key']);
  });

  it('rejects a removed @shareable, which prevents the composition with other subgraphs', async () => {
    const shared = `${subgraph} type PageInfo @shareable { more: Boolean }`;
    expect(await places(graphqlChanges, shared, shared.replace(' @shareable', ''))).toEqual(['PageInfo']);
  });

  it('accepts an additional key', async () => {
    expect(await on('@key(fields: "id")', '@key(fields: "state") @key(fields: "id")')).toEqual([]);
  });
});

describe('changes of the REST document', () => {
  const operation = (...parameters: object[]) => ({ parameters });
  const document = {
    paths: { '/keys': { get: operation({ name: 'limit' }), put: operation({ name: 'id', required: true }) } },
    components: {
      schemas: {
        Key: { properties: { id: { type: 'string' }, quota: { properties: { used: { type: 'integer' } } } } },
      },
    },
  };
  const on = (change: (copy: typeof document) => void) => {
    const copy = structuredClone(document);
    change(copy);
    return places(openAPIChanges, JSON.stringify(document), JSON.stringify(copy));
  };

  it('rejects a removed path, operation, parameter, schema or property', async () => {
    const all = ['GET /keys', 'GET /keys limit', 'PUT /keys', 'PUT /keys id'];
    expect(await on(({ paths }) => Reflect.deleteProperty(paths, '/keys'))).toEqual(all);
    expect(await on(({ paths }) => Reflect.deleteProperty(paths['/keys'], 'put'))).toEqual(all.slice(2));
    expect(await on(({ paths }) => paths['/keys'].get.parameters.pop())).toEqual(['GET /keys limit']);
    const { properties } = document.components.schemas.Key;
    expect(Object.keys(properties)).toEqual(['id', 'quota']);
    const gone = await on(({ components }) =>
      Reflect.deleteProperty(components.schemas.Key.properties.quota.properties, 'used'),
    );
    expect(gone).toEqual(['Key.quota.used']);
    expect(await on(({ components }) => Reflect.deleteProperty(components.schemas, 'Key'))).toContain('Key');
  });

  it('rejects a parameter that became required, but not one of a new operation', async () => {
    const now = { name: 'limit', required: true };
    expect(await on(({ paths }) => (paths['/keys'].get = operation(now)))).toEqual(['GET /keys limit']);
    expect(await on(({ paths }) => Object.assign(paths, { '/more': { get: operation(now) } }))).toEqual([]);
  });

  it('rejects another type, and accepts new properties and parameters without a message', async () => {
    expect(await on(({ components }) => (components.schemas.Key.properties.id.type = 'integer'))).toEqual(['Key.id']);
    const grown = on(({ paths, components }) => {
      paths['/keys'].get.parameters.push({ name: 'after' });
      Object.assign(components.schemas.Key.properties, { tag: { type: 'string' } });
    });
    expect(await grown).toEqual([]);
  });
});

describe('node test/project/contracts/check.mjs', () => {
  const script = join(import.meta.dirname, 'check.mjs');

  it('fails for a change since the last release that the changelog does not name under Unreleased', async () => {
    const folder = await temporaryFolder();
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
    const write = (file: string, text: string) => writeFile(join(folder, file), text);
    const check = (requireAll = '') => {
      const env = { ...process.env, REQUIRE_ALL: requireAll };
      const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8', env });
      return { status, output: stdout + stderr };
    };
    await mkdir(join(folder, 'schema'));
    await write('schema/schema.graphql', base);
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'release');
    await write('package.json', JSON.stringify({ contracts: { since: git('rev-parse', 'HEAD') } }));
    const released = '## 1.0.0 - 2026-01-01\n\n- `Key.state` is new.\n';
    await write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n${released}`);
    expect(check()).toEqual({ status: 0, output: '' });

    await write('schema/schema.graphql', base.replace('state: State!', ''));
    expect(check()).toMatchObject({ status: 1, output: expect.stringContaining('schema/schema.graphql: Key.state: ') });
    await write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n- \`Key.state\` is gone.\n\n${released}`);
    expect(check()).toEqual({ status: 0, output: '' });

    await rm(join(folder, 'schema/schema.graphql'));
    expect(check()).toMatchObject({ status: 1, output: expect.stringContaining('The contract was removed') });
    await write('package.json', JSON.stringify({ contracts: { since: 'f'.repeat(40) } }));
    expect(check()).toMatchObject({ status: 0, output: expect.stringContaining('compared with nothing') });
    expect(check('1')).toMatchObject({ status: 1, output: expect.stringContaining('compared with nothing') });
  });
});
