import { buildSchema, OverlappingFieldsCanBeMergedRule, parse, specifiedRules, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { fieldSelectionMerging } from '../../../src/graphql/execution/field-merging.js';
import { createRandom, runs, seed } from '../../support/generated.js';

const schema = buildSchema(`
  interface Node { id: ID! name: String self: Node }
  type A implements Node { id: ID! name: String self: A size(n: Int, by: By): Int text: String list: [A!] other: B any: Any }
  type B implements Node { id: ID! name: String self: Node size(n: Int, by: By): Float text: String! list: [B] other: A any: Any }
  union Any = A | B
  input By { a: Int b: [Int] }
  type Query { a: A b: B node: Node any: Any }
`);
const otherRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

const errorsOf = (query: string) => validate(schema, parse(query), [fieldSelectionMerging]);
const messagesOf = (query: string) => errorsOf(query).map(({ message }) => message);
const ofGraphQLJS = (query: string) => validate(schema, parse(query), [OverlappingFieldsCanBeMergedRule]);

const advice = 'Use different aliases on the fields to fetch both if this was intentional.';

describe('the fields of a document', () => {
  it.each([
    ['different fields', '{ a { x: id x: name } }', '"id" and "name" are different fields'],
    ['different arguments', '{ a { size(n: 1) size(n: 2) } }', 'they have differing arguments'],
    ['an argument too many', '{ a { size(n: 1) size } }', 'they have differing arguments'],
    [
      'different types',
      '{ any { ... on A { x: text } ... on B { x: text } } }',
      'they return conflicting types "String" and "String!"',
    ],
    [
      'a leaf and an object',
      '{ any { ... on A { x: text } ... on B { x: other { id } } } }',
      'they return conflicting types "String" and "A"',
    ],
  ])('conflict with %s', (_, query, reason) => {
    const [error, ...others] = errorsOf(query);
    expect(error?.message).toMatch(new RegExp(`^Fields "\\w+" conflict because ${reason}\\. ${advice}$`));
    expect([error?.nodes?.length, others]).toEqual([2, []]);
  });

  it.each([
    ['in both of two fragments', 'query { a { ...F ...G } } fragment F on A { x: id } fragment G on A { x: name }'],
    ['in a fragment of a fragment', '{ a { ...F x: id } } fragment F on A { ...G } fragment G on A { x: name }'],
    ['in an inline fragment', '{ a { x: id ... { ... on A { x: name } } } }'],
    ['below fields that are merged', '{ a { self { x: id } ...F } } fragment F on A { self { x: name } }'],
    ['of an interface', '{ node { x: id ... on A { x: name } } }'],
    ['of an interface, with the second of two types', '{ node { ... on A { x: id } x: id ... on B { x: name } } }'],
    ['in the second operation', 'query P { a { id } } query Q { a { x: id x: name } }'],
    [
      'below objects of different types',
      '{ any { ... on A { x: other { y: size } } ... on B { x: other { y: size } } } }',
    ],
  ])('conflict %s', (_, query) => {
    expect(messagesOf(query)).toHaveLength(1);
    expect(ofGraphQLJS(query)).not.toEqual([]);
  });

  it.each([
    ['the same arguments in another order', '{ a { size(n: 1, by: {a: 1, b: [2]}) size(by: {b: [2], a: 1}, n: 1) } }'],
    ['different fields of exclusive objects', '{ any { ... on A { x: id } ... on B { x: id } } }'],
    ['different arguments of exclusive objects', '{ any { ... on A { x: list { id } } ... on B { y: list { id } } } }'],
    [
      'different fields below exclusive objects',
      '{ any { ... on A { x: self { y: id } } ... on B { x: self { y: id } } } }',
    ],
  ])('merge with %s', (_, query) => {
    expect(messagesOf(query)).toEqual([]);
    expect(ofGraphQLJS(query)).toEqual([]);
  });

  it('conflict in the same documents as with graphql-js (FUZZ_SEED)', () => {
    const random = createRandom(seed);
    const counts = { valid: 0, invalid: 0 };
    for (let run = 0; run < runs('MERGING_RUNS', 250); run += 1) {
      const query = generateDocument(random);
      expect(validate(schema, parse(query), otherRules)).toEqual([]);
      const isValid = ofGraphQLJS(query).length === 0;
      expect([query, errorsOf(query).length === 0]).toEqual([query, isValid]);
      counts[isValid ? 'valid' : 'invalid'] += 1;
    }
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(runs('MERGING_RUNS', 250) / 5);
  });

  it('are compared within a limit, however often fragments with many fields are spread', () => {
    const many = Array.from({ length: 400 }, (_, n) => `a${n}: a { ...F }`).join(' ');
    const query = `{ ${many} } fragment F on A { ${'size(n: 1) '.repeat(400)} }`;
    expect(messagesOf(`query P ${query} query Q { a { x: id x: name } }`)).toEqual([
      'The operations select more than 20,000 fields, counting fragments at each spread.',
    ]);
  });

  it.each([
    ['once', '{ a { ...F } } fragment F on A { self { ...F } }'],
    [
      'of periods that multiply',
      `{ a { ...F ...G } } fragment F on A { self { self { ...F } } } fragment G on A { self { self { self { ...G } } } }`,
    ],
  ])('are compared in fragments that contain themselves %s', (_, query) => {
    expect(messagesOf(query).length).toBeLessThanOrEqual(1);
  });
});

/** Fragments spread only those after them, and most names in the response are shared. */
function generateDocument({ below, pick }: ReturnType<typeof createRandom>): string {
  const objects = ['A', 'B'];
  const composites = [...objects, 'Node', 'Any'];
  const fragments = Array.from({ length: below(4) }, (_, index) => ({ name: `F${index}`, type: pick(composites) }));
  const used = new Set<string>();

  function selection(type: string, depth: number, firstFragment: number): string {
    const parts = Array.from({ length: 1 + below(3) }, () => part(type, depth, firstFragment));
    return `{ ${parts.join(' ')} }`;
  }

  function part(type: string, depth: number, firstFragment: number): string {
    const roll = below(6);
    const usable = fragments.slice(firstFragment).filter((fragment) => mayOverlap(type, fragment.type));
    if (roll === 0 && usable.length > 0) {
      const { name } = pick(usable);
      used.add(name);
      return `...${name}`;
    }
    if (roll === 1) {
      const inner = pick(composites.filter((name) => mayOverlap(type, name)));
      return `... on ${inner} ${selection(inner, depth, firstFragment)}`;
    }
    return field(type, depth, firstFragment);
  }

  function field(type: string, depth: number, firstFragment: number): string {
    const alias = pick(['', '', '', 'x: ']);
    const leaves = {
      A: ['id', 'name', 'text', args()],
      B: ['id', 'name', 'text', args()],
      Node: ['id', 'name'],
      Any: ['__typename'],
    };
    const deep: Record<string, readonly (readonly [string, string])[]> = {
      A: [
        ['self', 'A'],
        ['list', 'A'],
        ['other', 'B'],
        ['any', 'Any'],
      ],
      B: [
        ['self', 'Node'],
        ['list', 'B'],
        ['other', 'A'],
        ['any', 'Any'],
      ],
      Node: [['self', 'Node']],
      Any: [],
    };
    const open = depth > 0 ? (deep[type] ?? []) : [];
    if (open.length === 0 || below(2) === 0) return `${alias}${pick(leaves[type as keyof typeof leaves])}`;
    const [name, inner] = pick(open);
    return `${alias}${name} ${selection(inner, depth - 1, firstFragment)}`;
  }

  const args = () => pick(['size', 'size(n: 1)', 'size(n: 2)', 'size(by: {a: 1, b: 2})', 'size(by: {b: [2], a: 1})']);

  const roots = pick([
    ['a', 'A'],
    ['b', 'B'],
    ['node', 'Node'],
    ['any', 'Any'],
  ] as const);
  const [root, type] = roots;
  const operation = `{ ${root} ${selection(type, 3, 0)} ${root} ${selection(type, 3, 0)} }`;
  const definitions: string[] = [];
  for (const [index, fragment] of fragments.entries()) {
    if (!used.has(fragment.name)) continue;
    definitions.push(`fragment ${fragment.name} on ${fragment.type} ${selection(fragment.type, 2, index + 1)}`);
  }
  return [operation, ...definitions].join(' ');
}

function mayOverlap(type: string, other: string): boolean {
  return type === other || [type, other].some((name) => name === 'Node' || name === 'Any');
}
