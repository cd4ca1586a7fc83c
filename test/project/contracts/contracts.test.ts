import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basesOf } from './base.mjs';
import { verdictOn } from './verdict.mjs';

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

/** `coordinate` of each change, by what the verdict makes of it. */
async function verdict(
  before: string | undefined,
  after: string | undefined,
  { changelog = '', baseChangelog = '', file = 'schema.graphql' } = {},
) {
  const { rejected, named } = await verdictOn(`schema/${file}`, before, after, changelog, baseChangelog);
  const places = (changes: readonly { coordinate: string }[]) => [
    ...new Set(changes.map(({ coordinate }) => coordinate)),
  ];
  return { rejected: places(rejected), named: places(named) };
}

const nothing = { rejected: [], named: [] };

describe('the check of a change of the schema', () => {
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
    expect((await verdict(base, base.replace(part, replacement))).rejected).toContain(place);
  });

  it.each([
    ['a new value, for which clients may have no case', 'ON OFF', 'State.NEW', 'ON OFF NEW'],
    ['a new member of a union', 'Key | Other', 'Found', 'Key | Other | Third'],
    ['another default', 'last: Int = 5', 'Key.keys(last:)', 'last: Int = 6'],
    ['a new default', 'first: Int', 'Key.keys(first:)', 'first: Int = 5'],
  ])('rejects %s, which may break a client', async (_, part, place, replacement) => {
    const changed = `${base.replace(part, replacement)} type Third { at: Moment }`;
    expect(await verdict(`${base} type Third { at: Moment }`, changed)).toEqual({ ...nothing, rejected: [place] });
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
    expect(await verdict(base, base.replace(part, replacement))).toEqual(nothing);
  });

  it('accepts a breaking change that the changelog names exactly under Unreleased, or in a release since the base', async () => {
    const broken = base.replace('state: State!', '').replace('first: Int, ', '');
    const places = ['Key.state', 'Key.keys(first:)'];
    const changelog = (heading: string, named: string) => `# Changelog\n\n## ${heading}\n\n- Gone: ${named}.\n`;
    const both = '`Key.state`, `Key.keys(first:)`';
    expect(await verdict(base, broken, { changelog: changelog('Unreleased', both) })).toEqual({
      ...nothing,
      named: places,
    });
    expect(await verdict(base, broken, { changelog: changelog('Unreleased', '`Key.state`') })).toEqual({
      ...nothing,
      rejected: ['Key.keys(first:)'],
      named: ['Key.state'],
    });
    const released = changelog('1.0.0', both);
    const baseChangelog = changelog('1.0.0', 'nothing');
    expect(await verdict(base, broken, { changelog: released })).toEqual({ ...nothing, named: places });
    for (const silent of [
      '',
      released,
      `# Changelog\n\n## Unreleased\n\n- Nothing.\n\n${released}`,
      changelog('Unreleased', 'Key.state, Key.keys(first:)'),
      changelog('Unreleased', '`Key.states`, `Key.keys`'),
    ]) {
      expect(await verdict(base, broken, { changelog: silent, baseChangelog })).toEqual({
        ...nothing,
        rejected: places,
      });
    }
  });

  it('rejects a change that the changelog named before the base', async () => {
    const broken = base.replace('state: State!', '');
    const entry = '- `Key.state` may be null.\n';
    const baseChangelog = `# Changelog\n\n## Unreleased\n\n${entry}`;
    const named = { ...nothing, named: ['Key.state'] };
    const rejected = { ...nothing, rejected: ['Key.state'] };
    expect(await verdict(base, broken, { changelog: baseChangelog, baseChangelog })).toEqual(rejected);
    const reworded = baseChangelog.replace('may be null', 'can be null');
    expect(await verdict(base, broken, { changelog: reworded, baseChangelog })).toEqual(rejected);
    const changelog = `${baseChangelog}- \`Key.state\` is gone.\n`;
    expect(await verdict(base, broken, { changelog, baseChangelog })).toEqual(named);
    // A release in between moves the earlier entry.
    const released = `# Changelog\n\n## Unreleased\n\n- \`Key.state\` is gone.\n\n## 1.0.0\n\n${entry}`;
    expect(await verdict(base, broken, { changelog: released, baseChangelog })).toEqual(named);
    const moved = `# Changelog\n\n## Unreleased\n\n## 1.0.0\n\n${entry}- \`Key.state\` is gone.\n`;
    expect(await verdict(base, broken, { changelog: moved, baseChangelog })).toEqual(named);
    const merely = `# Changelog\n\n## Unreleased\n\n- Nothing.\n\n## 1.0.0\n\n${entry}`;
    expect(await verdict(base, broken, { changelog: merely, baseChangelog })).toEqual(rejected);
  });

  it('accepts a dangerous change that the changelog names', async () => {
    const changed = base.replace('dryRun: Boolean! = true', 'dryRun: Boolean! = false');
    const changelog = '## Unreleased\n\n- The default of `Query.key(dryRun:)` is false.\n';
    expect(await verdict(base, changed)).toEqual({ ...nothing, rejected: ['Query.key(dryRun:)'] });
    expect(await verdict(base, changed, { changelog })).toEqual({ ...nothing, named: ['Query.key(dryRun:)'] });
  });

  it('accepts a new contract, and rejects a removed one unless the changelog names its file', async () => {
    expect(await verdict(undefined, base)).toEqual(nothing);
    expect(await verdict(base, undefined)).toEqual({ ...nothing, rejected: ['schema/schema.graphql'] });
    const changelog = '## Unreleased\n\n- `schema/schema.graphql` is gone.\n';
    expect(await verdict(base, undefined, { changelog })).toEqual({ ...nothing, named: ['schema/schema.graphql'] });
  });
});

describe('the check of a change of the subgraph', () => {
  const subgraph = `
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])
    type Key @key(fields: "id") @key(fields: "hash") { id: ID! hash: ID! state: Int }
    extend type Query { key: Key }`;
  const on = (part: string, replacement: string) =>
    verdict(subgraph, subgraph.replace(part, replacement), { file: 'subgraph.graphql' });

  it('rejects a removed field of a type, also of one that is only extended here', async () => {
    expect(await on(' state: Int', '')).toEqual({ ...nothing, rejected: ['Key.state'] });
    expect(await on('{ key: Key }', '{ other: Key }')).toEqual({ ...nothing, rejected: ['Query.key'] });
  });

  it('rejects a removed key by which a router joins an entity', async () => {
    expect((await on('@key(fields: "hash")', '')).rejected).toEqual(['Key']);
    expect((await on('@key(fields: "id")', '@key(fields: "id hash")')).rejected).toEqual(['Key']);
    expect((await on('@key(fields: "id")', '@key(fields: "id", resolvable: false)')).rejected).toEqual(['Key']);
  });

  it('rejects a removed @shareable, which prevents the composition with other subgraphs', async () => {
    const shared = `${subgraph} type PageInfo @shareable { more: Boolean }`;
    const { rejected } = await verdict(shared, shared.replace(' @shareable', ''), { file: 'subgraph.graphql' });
    expect(rejected).toEqual(['PageInfo']);
  });

  it('accepts an additional key', async () => {
    expect((await on('@key(fields: "id")', '@key(fields: "state") @key(fields: "id")')).rejected).toEqual([]);
  });
});

describe('the check of a change of the REST document', () => {
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
    return verdict(JSON.stringify(document), JSON.stringify(copy), { file: 'openapi.json' });
  };

  it('rejects a removed path, operation, parameter, schema or property', async () => {
    const all = ['GET /keys', 'GET /keys limit', 'PUT /keys', 'PUT /keys id'];
    expect((await on(({ paths }) => Reflect.deleteProperty(paths, '/keys'))).rejected).toEqual(all);
    expect((await on(({ paths }) => Reflect.deleteProperty(paths['/keys'], 'put'))).rejected).toEqual(all.slice(2));
    expect((await on(({ paths }) => paths['/keys'].get.parameters.pop())).rejected).toEqual(['GET /keys limit']);
    const { properties } = document.components.schemas.Key;
    expect(Object.keys(properties)).toEqual(['id', 'quota']);
    const gone = await on(({ components }) =>
      Reflect.deleteProperty(components.schemas.Key.properties.quota.properties, 'used'),
    );
    expect(gone).toEqual({ ...nothing, rejected: ['Key.quota.used'] });
    expect((await on(({ components }) => Reflect.deleteProperty(components.schemas, 'Key'))).rejected).toContain('Key');
  });

  it('rejects a parameter that became required, but not one of a new operation', async () => {
    const now = { name: 'limit', required: true };
    expect((await on(({ paths }) => (paths['/keys'].get = operation(now)))).rejected).toEqual(['GET /keys limit']);
    expect(await on(({ paths }) => Object.assign(paths, { '/more': { get: operation(now) } }))).toEqual(nothing);
  });

  it('rejects another type, and accepts new properties and parameters without a message', async () => {
    const { rejected } = await on(({ components }) => (components.schemas.Key.properties.id.type = 'integer'));
    expect(rejected).toEqual(['Key.id']);
    const grown = on(({ paths, components }) => {
      paths['/keys'].get.parameters.push({ name: 'after' });
      Object.assign(components.schemas.Key.properties, { tag: { type: 'string' } });
    });
    expect(await grown).toEqual(nothing);
  });
});

describe('npm run contracts', () => {
  const script = join(import.meta.dirname, 'check.mjs');
  let folder: string;
  let repository: string;

  /** Git without the configuration of the machine. */
  const environment = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'T'],
        [`GIT_${who}_EMAIL`, 't@example.test'],
      ]),
    ),
  };
  const git = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: repository, env: environment, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const write = (file: string, text: string) => writeFileSync(join(repository, file), text);
  const commit = (message: string) => {
    git('add', '-A');
    git('commit', '-qm', message);
    return git('rev-parse', 'HEAD');
  };
  const check = (cwd = repository, wanted?: string) => {
    const env = { ...environment, ...(wanted !== undefined && { SCHEMA_BASE: wanted }) };
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { cwd, env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const named = '# Changelog\n\n## Unreleased\n\n- `Key.state` is gone.\n';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyfront-contracts-'));
    repository = join(folder, 'main');
    mkdirSync(join(repository, 'schema'), { recursive: true });
    git('init', '-q', '-b', 'main');
    write('schema/schema.graphql', base);
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('compares main with every earlier state of its contracts', () => {
    write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n');
    const first = commit('first');
    expect(check().status).toBe(0);

    write('schema/schema.graphql', base.replace('state: State!', ''));
    const broken = commit('broken');
    expect(basesOf(repository, undefined, undefined).map(({ commit }) => commit)).toEqual([broken, first]);
    const rejected = check();
    expect(rejected.status).toBe(1);
    expect(rejected.output).toContain("schema/schema.graphql: BREAKING: Key.state: Field 'state' was removed");
    write('README.md', 'Earlier text.');
    commit('harmless');
    write('schema/schema.graphql', `${base.replace('state: State!', '')} scalar Period`);
    commit('harmless change of the schema');
    expect(check()).toMatchObject({ status: 1, output: expect.stringContaining('BREAKING: Key.state') });

    write('CHANGELOG.md', named);
    expect(check()).toMatchObject({
      status: 0,
      output: expect.stringContaining('breaking, named in the changelog: Key.state'),
    });
    commit('named');
    // The entry permits this change, and no later one of the same place.
    write('schema/schema.graphql', `${base} scalar Period`);
    commit('restored');
    expect(check().status).toBe(0);
    write('schema/schema.graphql', `${base.replace('state: State!', '')} scalar Period`);
    expect(check().status).toBe(1);
    git('checkout', '-q', '--', 'schema');
  });

  it('compares main with no commit before contracts.since of package.json', () => {
    const restored = git('rev-parse', 'HEAD');
    write('package.json', JSON.stringify({ contracts: { since: restored } }));
    commit('since');
    expect(check()).toMatchObject({ status: 0, output: expect.stringMatching(/^[^\n]*contracts\.since[^\n]*\n$/) });
    write('package.json', JSON.stringify({ contracts: { since: 'f'.repeat(40) } }));
    expect(check()).toMatchObject({ status: 0, output: expect.stringContaining('compared with nothing') });
    git('rm', '-q', '-f', 'package.json');
    commit('without');
  });

  it('reports that a clone of a single commit lacks contracts.since, and compares with nothing', () => {
    write('package.json', JSON.stringify({ contracts: { since: git('rev-parse', 'HEAD') } }));
    commit('since again');
    const clone = join(folder, 'clone');
    git('clone', '-q', '--depth', '1', `file://${repository}`, clone);
    expect(check(clone)).toMatchObject({ status: 0, output: expect.stringContaining('compared with nothing') });
    git('rm', '-q', '-f', 'package.json');
    commit('without again');
  });

  it('compares a branch with its fork point from origin/main, and a new contract with nothing', () => {
    const fork = git('rev-parse', 'HEAD');
    git('update-ref', 'refs/remotes/origin/main', fork);
    git('checkout', '-qb', 'branch');
    write('schema/schema.graphql', base.replace('state: State!', '').replace('ON OFF', 'ON OFF NEW'));
    write('schema/subgraph.graphql', 'type Query { a: Int }');
    commit('something new');
    write('schema/schema.graphql', base.replace('state: State!', '').replace('OFF', ''));
    commit('something gone');
    write('README.md', 'Text.');
    commit('something else');
    expect(basesOf(repository, undefined, undefined)).toEqual([
      { commit: fork, reason: 'where the branch left origin/main' },
    ]);
    const { status, output } = check();
    expect([status, output.match(/\w+: \S+(?=: Enum)/g)]).toEqual([1, ['BREAKING: State.OFF']]);
    expect(output).not.toContain('subgraph');
    expect(check(repository, 'HEAD^').status).toBe(0);
    expect(basesOf(repository, 'HEAD^', undefined).map(({ reason }) => reason)).toEqual(['SCHEMA_BASE']);
    git('update-ref', '-d', 'refs/remotes/origin/main');
    expect(basesOf(repository, undefined, undefined)).toEqual([{ commit: fork, reason: 'where the branch left main' }]);
  });

  it('fails if SCHEMA_BASE names no commit, instead of comparing with another', () => {
    for (const wanted of ['nonsense', '--all', 'HEAD:CHANGELOG.md']) {
      expect(check(repository, wanted)).toMatchObject({
        status: 1,
        output: expect.stringMatching(/^SCHEMA_BASE is [^\n]* no commit of this clone has that name[^\n]*\n$/),
      });
    }
  });

  it('passes without git', () => {
    const plain = join(folder, 'plain');
    mkdirSync(plain);
    expect(check(plain)).toMatchObject({ status: 0, output: expect.stringContaining('compared with nothing') });
  });
});
