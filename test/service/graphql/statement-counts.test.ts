import { getNamedType, isLeafType, isObjectType, type GraphQLField, type GraphQLObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema/api-schema.js';
import { hashOf } from '../../support/factories.js';
import { errorsOf } from '../../support/responses.js';
import { startSharedApp } from '../../support/app.js';
import { statementsDuring } from '../../support/statements.js';

const t = await startSharedApp({ KEYFRONT_GRAPHQL_MAX_DEPTH: '30' });
const keys = Array.from({ length: 300 }, (_, index) => ({
  key_id: `k${index}`,
  org_id: `org-${index % 100}`,
  alias: `Key ${index}`,
  quota_max: 10,
  tags: ['t'],
  access_rights: { a: { api_id: 'a' } },
}));
await t.importKeys(...keys);
await t.graphql(
  'mutation { updateOrgKeys(filter: {}, patch: { alias: "New" }, dryRun: false, first: 100) { dryRun } }',
);

/** How to read up to 100 objects of a type, with its fields in the place of FIELDS. */
const lists: Readonly<Record<string, readonly [name: string, query: string][]>> = {
  OrgKey: [
    ['Query.orgKeys', 'query { orgKeys(first: SIZE) { totalCount edges { node { FIELDS } } } }'],
    ['_entities', 'query ($keys: [_Any!]!) { _entities(representations: $keys) { ... on OrgKey { FIELDS } } }'],
    [
      'Mutation.updateOrgKeys',
      'mutation { updateOrgKeys(filter: {}, patch: {}, first: SIZE) { items { orgKey { FIELDS } } } }',
    ],
  ],
  Organization: [
    ['_entities', 'query ($orgs: [_Any!]!) { _entities(representations: $orgs) { ... on Organization { FIELDS } } }'],
    ['Query.orgKeys.organization', 'query { orgKeys(first: SIZE) { edges { node { organization { FIELDS } } } } }'],
  ],
};

/** Selects a field with all leaves below it, without further pages (they have cases of their own) and without a way back up. */
function selectionOf(field: GraphQLField<unknown, unknown>, seen: readonly string[]): string | undefined {
  const type = getNamedType(field.type);
  const args = field.args.some(({ name }) => name === 'first') ? '(first: 1)' : '';
  if (isLeafType(type)) return `${field.name}${args}`;
  if (!isObjectType(type) || seen.includes(type.name)) return undefined;
  const inner = fieldsOf(type)
    .filter(isNoPage)
    .flatMap((child) => selectionOf(child, [...seen, type.name]) ?? []);
  return inner.length === 0 ? undefined : `${field.name}${args} { ${inner.join(' ')} }`;
}

const isNoPage = ({ args }: GraphQLField<unknown, unknown>) => !args.some(({ name }) => name === 'first');

function fieldsOf(type: GraphQLObjectType): GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields());
}

const cases = Object.entries(lists).flatMap(([typeName, queries]) => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is not an object type.`);
  return fieldsOf(type).flatMap((field) => {
    const selection = selectionOf(field, [typeName]);
    if (selection === undefined) return [];
    return queries.map(([list, query]) => [`${typeName}.${field.name}`, list, query, selection] as const);
  });
});

async function statementsFor(query: string, selection: string, size: number): Promise<number> {
  const objects = (make: (index: number) => object) => Array.from({ length: size }, (_, index) => make(index));
  const variables = {
    keys: objects((index) => ({ __typename: 'OrgKey', keyHash: hashOf(`k${index}`) })),
    orgs: objects((index) => ({ __typename: 'Organization', id: `org-${index}` })),
  };
  const declared = Object.entries(variables).filter(([name]) => query.includes(`$${name}`));
  const text = query.replace('SIZE', String(size)).replace('FIELDS', selection);
  const statements = await statementsDuring(async () => {
    const response = await t.graphql(text, Object.fromEntries(declared));
    expect(errorsOf(response)).toEqual([]);
  });
  return statements.length;
}

describe('the number of SQL statements', () => {
  it('covers every list of objects that the storage is read for', () => {
    expect(cases.map(([field]) => field)).toEqual(
      expect.arrayContaining(['OrgKey.history', 'OrgKey.quota', 'Organization.orgKeys', 'Organization.quotaSummary']),
    );
  });

  it.each(cases)(
    'that read %s is the same for 10 and for 100 objects of %s',
    async (_field, _list, query, selection) => {
      const statementsAt = async (size: number) =>
        (await statementsFor(query, selection, size)) - (await statementsFor(query, '__typename', size));
      const hundred = await statementsAt(100);
      expect(hundred).toBe(await statementsAt(10));
      // Two for a page, its hashes and its rows, one each for the notices and the use by day, and one for `totalCount`.
      expect(hundred).toBeLessThanOrEqual(5);
    },
  );

  it('that read keys by identifier or by hash is the same for 2 and for 12 fields', async () => {
    const { body } = await t.graphql('{ orgKeys(first: 12) { edges { node { id keyID } } } }');
    const { edges } = (body as { data: { orgKeys: { edges: { node: { id: string; keyID: string } }[] } } }).data
      .orgKeys;
    const orgKey = edges.map(
      ({ node: { keyID } }, index) => `k${index}: orgKey(by: { keyID: "${keyID}" }) { version }`,
    );
    const node = edges.map(({ node: { id } }, index) => `n${index}: node(id: "${id}") { ... on OrgKey { version } }`);
    for (const fields of [orgKey, node]) {
      const countFor = (size: number) => statementsFor(`{ ${fields.slice(0, size).join(' ')} }`, '', 0);
      expect(await countFor(12)).toBe(await countFor(2));
    }
  });
});
