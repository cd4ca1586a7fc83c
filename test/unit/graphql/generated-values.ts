import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import type { createRandom } from '../../support/generated.js';

export type Random = ReturnType<typeof createRandom>;

/** Values that make sense for an argument or a field of an input; undefined where any value of the type will do. */
export type Hints = (name: string, typeName: string) => readonly unknown[] | undefined;

/** Stands in a value where its literal has a variable. */
export class Variable {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Declares a variable for a position in a literal, and returns its name with the `$`. */
type Declare = (hint: string, type: GraphQLInputType, hasDefault: boolean) => string;

/** Generates values as JSON has them. With a way to declare variables they may hold some, and are for literals only. */
export function createValues({ below, pick }: Random, hints: Hints) {
  const chance = (outOf: number) => below(outOf) === 0;

  function valueOf(hint: string, type: GraphQLInputType, depth: number, declare?: Declare): unknown {
    if (isNonNullType(type)) {
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const value = valueOf(hint, type.ofType, depth, declare);
        if (value !== null) return value;
      }
      throw new Error(`Nothing but null was generated for ${hint}.`);
    }
    if (chance(8)) return null;
    if (isListType(type)) return listOf(hint, type.ofType, depth, declare);
    const hinted = hints(hint, getNamedType(type).name);
    if (hinted) return pick(hinted);
    if (isEnumType(type)) return pick(type.getValues()).name;
    if (isInputObjectType(type)) return objectOf(type, depth, declare);
    switch (getNamedType(type).name) {
      case 'Boolean':
        return chance(2);
      case 'Int':
        return pick([0, 1, 2, -1, 7, 2 ** 31 - 1]);
      case 'Float':
        return pick([0, 1.5, -2, 1e21, 0.1]);
      case 'ID':
        return pick<unknown>(['x', '1', 5]);
      case 'String':
        return pick(['', 'x', 'a "quoted"\ntext', 'ä€']);
      default:
        return pick<unknown>(['x', 3, true, 'bad', 'worse', 'nothing', { a: [1, { b: null }] }]);
    }
  }

  function listOf(hint: string, item: GraphQLInputType, depth: number, declare?: Declare): unknown {
    // One item is a list of one.
    if (chance(5)) return valueOf(hint, item, depth, declare);
    return Array.from({ length: below(4) }, () =>
      declare && chance(8) ? new Variable(declare(hint, item, false)) : valueOf(hint, item, depth, declare),
    );
  }

  function objectOf(type: GraphQLInputObjectType, depth: number, declare?: Declare): unknown {
    const fields = Object.values(type.getFields());
    if (type.isOneOf) {
      const { name, type: fieldType } = pick(fields);
      return { [name]: valueOf(name, fieldType, 0) };
    }
    const members = fields.flatMap((field) => {
      const { name, type: fieldType } = field;
      const hasDefault = field.default !== undefined || field.defaultValue !== undefined;
      const isRequired = isNonNullType(fieldType) && !hasDefault;
      if (!isRequired && (depth === 0 || below(fields.length) >= 4)) return [];
      const isVariable = declare && chance(6);
      return [
        [
          name,
          isVariable
            ? new Variable(declare(name, fieldType, hasDefault))
            : valueOf(name, fieldType, Math.max(depth - 1, 0), declare),
        ] as const,
      ];
    });
    // A literal with a member that is not there is not valid, and comes no further.
    if (!declare && chance(25)) return { ...Object.fromEntries(members), nope: 1 };
    return Object.fromEntries(members);
  }

  return valueOf;
}

/** Values that hardly any type takes. */
export const wrongValues: readonly unknown[] = [
  null,
  'text',
  '',
  1.5,
  2 ** 40,
  -1,
  true,
  [],
  {},
  { nope: 1 },
  [[1]],
  [null],
  { toString: 1 },
];

/** The literal of a value of a type. */
export function literalOf(value: unknown, type: GraphQLInputType): string {
  if (value instanceof Variable) return value.name;
  if (value === null || value === undefined) return 'null';
  if (isNonNullType(type)) return literalOf(value, type.ofType);
  const itemType = isListType(type) ? type.ofType : type;
  if (Array.isArray(value)) return `[${value.map((item) => literalOf(item, itemType)).join(', ')}]`;
  if (isListType(type)) return literalOf(value, itemType);
  if (isEnumType(type)) return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = isInputObjectType(type) ? type.getFields() : {};
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${literalOf(member, fields[name]?.type ?? type)}`,
  );
  return `{${members.join(', ')}}`;
}
