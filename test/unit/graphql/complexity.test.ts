import { buildSchema, getOperationAST, GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { calculateComplexity, type OperationSize } from '../../../src/graphql/execution/complexity.js';

/** A graph as routers see ours, and pages of other shapes than a connection's. */
const schema = buildSchema(`
  scalar Any
  union Entity = Thing | Other
  type Query {
    thing: Thing
    owner: Organization
    entities(representations: [Any!]!): [Entity]!
    paged(first: Int = 7, last: Int): [Thing!]!
    bulk(first: Int): Bulk!
  }
  type Thing { name: String things(first: Int, last: Int): Things! list: [Thing!]! }
  type Other { name: String }
  type Things { nodes: [Thing!]! total: Int! }
  type Mutation { change: Thing }
  type Organization { quotaSummary: Thing }
  type Bulk { items: [Thing!]! total: Int! }
`);
const bulk = schema.getQueryType()?.getFields()['bulk'];
if (bulk) bulk.extensions = { pageSizes: { defaultSize: 200, maxSize: 200 } };

function sizeOf(query: string, variables: Record<string, unknown> = {}): OperationSize {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (!operation) throw new GraphQLError('A test needs an operation.');
  return calculateComplexity(schema, document, operation, variables);
}
const costOf = (query: string, variables?: Record<string, unknown>) => sizeOf(query, variables).cost;

describe('the cost of an operation', () => {
  it.each<[string, number]>([
    ['{ thing { name } }', 2],
    ['{ __typename }', 1],
    ['{ thing { name name name } }', 4],
    // Of no given size.
    ['{ thing { list { name } } }', 3],
    ['{ thing { things(first: 10) { total nodes { name } } } }', 1 + 10 + 1 + 10 * 2],
    ['{ thing { things { total nodes { name } } } }', 1 + 20 + 1 + 20 * 2],
    ['{ thing { things(last: 10) { nodes { things(first: 5) { nodes { name } } } } } }', 1 + 10 + 10 * (1 + 5 + 5 * 2)],
    ['{ thing { things(first: 10) { nodes { name } total nodes { name } } } }', 1 + 10 + 10 * 2 + 1 + 10 * 2],
    ['{ paged { name } }', 7 + 7],
    ['{ paged(first: 3) { name } }', 3 + 3],
    ['{ bulk { total } }', 200 + 1],
    ['mutation { change { name } }', 10 + 1],
    ['{ owner { quotaSummary { name } } }', 1 + 10 + 1],
    ['{ bulk(first: 1000) { items { name } } }', 200 + 200 * 2],
    ['{ thing { things(first: 0) { nodes { name } } } }', 1 + 1 + 2],
    ['{ thing { things(first: -5) { nodes { name } } } }', 1 + 1 + 2],
  ])('of %s is %i', (query, cost) => {
    expect(costOf(query)).toBe(cost);
  });

  it.each<[string, number]>([
    ['{ thing { name name } }', 1],
    ['{ __typename }', 0],
    ['{ thing { list { name } } }', 2],
    ['{ thing { things(first: 10) { total nodes { name } } } }', 1 + 1 + 10],
    ['{ thing { things { total nodes { name } } } }', 1 + 1 + 20],
    ['{ thing { things(last: 10) { nodes { things(first: 5) { nodes { name } } } } } }', 1 + 1 + 10 * (1 + 1 + 5)],
    ['{ bulk(first: 1000) { items { name } } }', 1 + 200],
    ['{ paged(first: 3) { name things(first: 2) { total } } }', 3 * (1 + 1)],
    ['mutation { change { name } }', 10],
    ['{ owner { quotaSummary { name } } }', 1 + 10],
    ['{ entities(representations: [1, 2, 3]) { ... on Thing { name list { name } } } }', 3 * (1 + 1)],
  ])('of %s is %i in the units of demand control', (query, estimate) => {
    expect(sizeOf(query).estimate).toBe(estimate);
  });

  it('counts an entity for each distinct representation', () => {
    const query = 'query ($r: [Any!]!) { entities(representations: $r) { ... on Thing { name things { total } } } }';
    const distinct = Array.from({ length: 50 }, (_, id) => ({ id }));
    expect(costOf(query, { r: distinct })).toBe(50 + 50 * (1 + 20 + 1));
    expect(costOf(query, { r: [...distinct, ...distinct, ...structuredClone(distinct)] })).toBe(
      costOf(query, { r: distinct }),
    );
    expect(costOf(query, { r: [{ id: 1 }, { id: '1' }, { id: null }, {}, {}] })).toBe(4 + 4 * (1 + 20 + 1));
    expect(costOf('{ entities(representations: [1, 2, 3]) { __typename } }')).toBe(3 + 3);
  });

  it('is equal with and without fragments', () => {
    const plain = '{ thing { things(first: 10) { total nodes { name list { name } } } } }';
    const spread = `{ ...A } fragment A on Query { thing { ... { ...B } } } fragment B on Thing { things(first: 10) { ...C ...D } }
      fragment C on Things { total } fragment D on Things { ... on Things { nodes { ...E } } } fragment E on Thing { name list { name } }`;
    expect(sizeOf(spread)).toStrictEqual(sizeOf(plain));
  });

  it('counts unknown fields as 1 each', () => {
    expect(
      costOf('{ nope { nope(first: 100) { nope } } ...Nope ... on Nope { a } thing { ... on Nope { a { b } } } }'),
    ).toBe(7);
  });

  it.each(['__proto__', 'constructor', 'toString'])('treats a variable named $%s as absent', (name) => {
    expect(costOf(`query ($${name}: Int) { thing { things(first: $${name}) { total } } }`)).toBe(1 + 20 + 1);
  });
});

describe('counts', () => {
  it('are Infinity for a thousand doublings, without delay', () => {
    const fragments = Array.from(
      { length: 1100 },
      (_, i) => `fragment F${i} on Query { a: thing @a { name } ...F${i + 1} ...F${i + 1} }`,
    );
    const size = sizeOf(`{ ...F0 } ${fragments.join(' ')} fragment F1100 on Query { thing { name } }`);
    expect(size).toStrictEqual({
      depth: 2,
      introspection: 0,
      aliases: Infinity,
      directives: Infinity,
      rootFields: Infinity,
      cost: Infinity,
      estimate: Infinity,
      isVariable: false,
    });
  });

  it('stop at a fragment that contains itself', () => {
    expect(
      sizeOf(
        '{ ...A } fragment A on Query { thing { name } ...B ...A } fragment B on Query { a: thing { name } ...A }',
      ),
    ).toMatchObject({ rootFields: 2, aliases: 1, cost: 4 });
  });
});
