import {
  buildSchema,
  getVariableValues,
  GraphQLInputObjectType,
  GraphQLInt,
  Kind,
  parse,
  type VariableDefinitionNode,
  type VariableValues,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { compileVariables } from '../../../src/graphql/execution/executor/coerce-variables.js';

const schema = buildSchema(`
  type Query { a(point: Point, one: One, optional: Optional): Int }
  enum Color { RED GREEN }
  input Point { x: Int! y: Int = 2 tags: [String!] = ["a"] color: Color inner: Point }
  input Optional { x: Int }
  input One @oneOf { a: Int b: String }
`);

const types = [
  ...['Int', 'Int!', 'Int = 3', 'Int! = 3', 'Float', 'String', 'Boolean', 'ID', 'Color', 'Color = RED'],
  ...['[Int]', '[Int!]', '[Int]!', '[[Int]]', '[Color!] = [RED]', '[Point]', '[One!]'],
  ...['Point', 'Point!', 'Point = { x: 1 }', 'Optional', 'Optional!', 'One', 'One!', 'Query'],
];

const values = [
  ...[undefined, null, 0, 1.5, 2 ** 31, '', 'x', 'RED', 'BLUE', true, Symbol.iterator, () => 1],
  ...[[], [1], [null], [1, 'x'], [[1]], ['RED'], [{ x: 1 }], [{ a: 1 }]],
  ...[{}, { x: 1 }, { x: null }, { x: '1' }, { x: 1, y: null }, { y: 1 }],
  ...[
    { x: 1, z: 1 },
    { x: 1, tags: 'b' },
    { x: 1, tags: ['b', null] },
    { x: 1, tags: null },
    { x: 1, color: 'RED' },
  ],
  ...[
    { x: 1, color: 'BLUE' },
    { x: 1, inner: { x: 2 } },
    { x: 1, inner: {} },
    { x: 1, inner: [] },
    [{ x: 1 }, { x: 2 }],
  ],
  ...[{ a: 1 }, { a: null }, { a: 1, b: null }, { a: 1, b: 'x' }, { b: 1 }, { a: 1, c: 1 }],
];

const inputs: readonly { v?: unknown }[] = values.map((value) => (value === undefined ? {} : { v: value }));

function definitionsOf(type: string): readonly VariableDefinitionNode[] {
  const [operation] = parse(`query ($v: ${type}) { a }`).definitions;
  return operation?.kind === Kind.OPERATION_DEFINITION ? (operation.variableDefinitions ?? []) : [];
}

/** graphql-js keeps the coerced default value in its signatures. */
function shown(values: VariableValues | undefined) {
  if (!values) return undefined;
  const sources = Object.values(values.sources).map(({ signature: { name, type, default: given }, ...rest }) => {
    return { name, type: String(type), literal: given?.literal, ...rest };
  });
  return { coerced: values.coerced, sources };
}

describe('Variables', () => {
  it.each(types)('are coerced, or rejected, as graphql-js does: %s', (type) => {
    const definitions = definitionsOf(type);
    const coerce = compileVariables(schema, definitions);
    for (const input of inputs) {
      const { variableValues } = getVariableValues(schema, definitions, input);
      expect(shown(coerce(input)), `coerced from ${String(input.v)}`).toEqual(shown(variableValues));
    }
  });

  it.each([
    ['a literal', { default: { literal: { kind: Kind.INT, value: '7' } as const } }],
    ['a value', { default: { value: 7 } }],
    ['a coerced value', { defaultValue: 7 }],
  ])('have the default of a member that is given as %s', (_, config) => {
    const type = new GraphQLInputObjectType({ name: 'Point', fields: { x: { type: GraphQLInt, ...config } } });
    const own = Object.assign(Object.create(schema), { getType: () => type }) as typeof schema;
    const coerce = compileVariables(own, definitionsOf('Point'));
    for (let time = 0; time < 2; time += 1) expect(coerce({ v: {} })?.coerced).toEqual({ v: { x: 7 } });
  });

  it('have no value when they are named like a member of Object.prototype and not given', () => {
    const definitions = definitionsOf('Int').map((definition) => ({
      ...definition,
      variable: { ...definition.variable, name: { kind: Kind.NAME, value: 'toString' } as const },
    }));
    expect(compileVariables(schema, definitions)({})?.coerced).toStrictEqual(Object.create(null));
  });

  it('keep the order of their members, and the object when no member changes', () => {
    const coerce = compileVariables(schema, definitionsOf('Point'));
    const given = { y: 1, x: 2, tags: ['b'] };
    expect(coerce({ v: given })?.coerced['v']).toBe(given);
    expect(JSON.stringify(coerce({ v: { y: 1, x: 2 } })?.coerced['v'])).toBe('{"y":1,"x":2,"tags":["a"]}');
  });

  it('are not changed by coercion', () => {
    const given = Object.freeze({ x: 1, tags: Object.freeze(['b']) });
    expect(compileVariables(schema, definitionsOf('[Point]'))({ v: given })?.coerced['v']).toEqual([
      { x: 1, y: 2, tags: ['b'] },
    ]);
  });
});
