import {
  buildSchema,
  coerceInputLiteral,
  getNullableType,
  GraphQLError,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isScalarType,
  responsePathAsArray,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { createRandom } from '../../support/generated.js';

/*
 * A schema whose fields fail in every way: they are null, throw, reject or return values of another type, at once or later.
 * The behavior of a field depends only on its path and the seed, so that every execution is the same.
 */

export const sdl = `
  directive @hint(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT

  scalar Moody
  scalar Anything
  enum Color { RED GREEN BLUE }

  input Shape {
    name: String! = "circle"
    size: Int = 3
    colors: [Color!] = [RED, BLUE]
    color: Color
    inner: Shape
    moody: Moody
    sure: Boolean!
    any: Anything
    numbers: [[Int!]]
  }
  input Either @oneOf { number: Int text: String }

  interface Thing { id: ID! name: String! nick: String self: Thing sure: Thing! count: Int }
  interface Fruit implements Thing { id: ID! name: String! nick: String self: Fruit sure: Thing! count: Int color: Color }

  type Apple implements Thing & Fruit {
    id: ID! name: String! nick: String self: Apple sure: Thing! count: Int color: Color
    sizes: [Int] exact: [Int!]! flag: Boolean! weight(unit: String = "kg", factor: Float): Float! moody: Moody! any: Any
  }
  type Pear implements Thing & Fruit {
    id: ID! name: String! nick: String self: Fruit sure: Pear! count: Int color: Color
    matrix: [[Int!]]! friends(first: Int! = 2): [Thing!] moody: Moody same: [Fruit]
  }
  type Stone implements Thing {
    id: ID! name: String! nick: String self: Thing sure: Stone! count: Int
    hardness: Float colors: [Color!] anys: [Any!]!
  }
  union Any = Apple | Pear | Stone

  type Query {
    apple: Apple pear: Pear! stone: Stone thing(kind: String): Thing things: [Thing] sureThings: [Thing!]! fruits: [Fruit!]
    any(shape: Shape): Any anys: [Any] matrix: [[Any!]!]
    number: Int sureNumber: Int! numbers: [Int!] color: Color moody: Moody! flag: Boolean
    echo(
      int: Int = 4 sureInt: Int! = 5 float: Float text: String id: ID flag: Boolean color: Color = GREEN
      colors: [Color!] = [RED] shape: Shape shapes: [Shape!] moody: Moody any: Anything either: Either list: [[Int!]!]
    ): Anything
    demand(int: Int!, shape: Shape!, texts: [String!]!): Anything!
  }
  type Mutation {
    step(by: Int! = 1): Int
    sureStep(by: Int): Int!
    make(shape: Shape!): Thing
    sureMake(shape: Shape): Apple!
    many: [Thing!]
  }
`;

/** The context of every resolver, which collects its calls. */
export interface FailureOptions {
  readonly seed: number;
  readonly calls: string[];
  /** Whether resolvers throw single errors only, and no AggregateError or other value. */
  readonly isTame?: boolean;
}

type Dice = ReturnType<typeof createRandom>;

/** The schema; a twin may be built of another text. */
export function buildFailingSchema(text = sdl): GraphQLSchema {
  const schema = buildSchema(text);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isScalarType(type) && ['Moody', 'Anything'].includes(type.name)) {
      // Yoga's executor calls the older names.
      type.serialize = type.coerceOutputValue = type.name === 'Moody' ? serializeMoody : (value) => value;
      type.parseValue = type.coerceInputValue = type.name === 'Moody' ? parseMoody : (value) => value;
    }
    if (isEnumType(type)) {
      for (const value of type.getValues()) value.value = value.name === 'RED' ? 0 : { of: value.name };
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        const literal = field.default?.literal;
        // Yoga's executor reads the older property only.
        if (literal) field.defaultValue = coerceInputLiteral(literal, field.type);
      }
    }
    if (type.name === 'Stone' && isObjectType(type)) type.isTypeOf = isStone;
    if (type.name === 'Pear' && isObjectType(type)) type.isTypeOf = (value) => kindOf(value) === 'Pear';
    if (type.name === 'Any' && isAbstractType(type)) type.resolveType = resolveAny;
    if (type.name === 'Fruit' && isInterfaceType(type)) type.resolveType = (value) => kindOf(value);
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      // The others are found by the default resolver, as members, getters and functions of the results above.
      if (['Query', 'Mutation'].includes(type.name) || ['sure', 'friends', 'weight', 'anys'].includes(field.name)) {
        field.resolve = resolveWithFailures;
      }
    }
  }
  return schema;
}

/** The root value, for fields without a resolver. */
export const rootValue = { isRoot: true };

const resolveWithFailures: GraphQLFieldResolver<unknown, FailureOptions> = (source, args, failure, info) => {
  note(failure, source, args, info);
  const dice = diceFor(failure.seed, responsePathAsArray(info.path).join('.'));
  if (info.fieldName === 'echo' || info.fieldName === 'demand') return outcome(dice, failure, () => inOrder(args));
  return outcome(dice, failure, () => good(info.schema, info.returnType, dice, failure));
};

function note(failure: FailureOptions, source: unknown, args: unknown, info: GraphQLResolveInfo): void {
  const { fieldName, fieldNodes, fragments, operation, path, variableValues } = info;
  const called = {
    source: kindOf(source),
    args: inOrder(args),
    fieldName,
    places: fieldNodes.map(({ loc }) => loc?.start),
    types: [String(info.returnType), String(info.parentType)],
    path: responsePathAsArray(path),
    types2: typesIn(path),
    fragments: Object.keys(fragments),
    isRoot: info.rootValue === rootValue,
    operation: operation.loc?.start,
    variableValues: inOrder(variableValues.coerced),
    sources: Object.entries(variableValues.sources).map(([name, { signature, value }]) => [
      name,
      String(signature.type),
      signature.default?.literal?.loc?.start,
      inOrder(value),
    ]),
  };
  failure.calls.push(text(called));
}

/** The same with all members in one order: GraphQL gives those of an input none. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]));
}

function typesIn(path: GraphQLResolveInfo['path'] | undefined): unknown[] {
  return path ? [...typesIn(path.prev), path.typename ?? null] : [];
}

/** A value as text that distinguishes all values that GraphQL distinguishes. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member === undefined
      ? 'undefined'
      : typeof member === 'bigint' || typeof member === 'symbol'
        ? String(member)
        : member,
  );
}

function diceFor(seed: number, place: string): Dice {
  let hash = seed | 0;
  for (let index = 0; index < place.length; index += 1) hash = Math.imul(hash ^ place.charCodeAt(index), 0x01000193);
  return createRandom(hash);
}

const errors: readonly unknown[] = [
  new Error('One error that comes up in many places.'),
  new Error('Another.'),
  new GraphQLError('One with extensions.', { extensions: { code: 'MINE' } }),
  new GraphQLError('One with a path of its own.', { path: ['elsewhere', 1] }),
  Object.assign(new Error('One with extensions.'), { extensions: { code: 'THEIRS' } }),
];

const oddities: readonly unknown[] = [
  new AggregateError([new Error('one'), new Error('two')], 'Several.'),
  'a text',
  undefined,
  null,
  { message: 'no Error' },
];

/** What a resolver does besides returning its value, now or later. */
function outcome(dice: Dice, failure: FailureOptions, make: () => unknown): unknown {
  const roll = dice.below(100);
  if (roll < 55) return make();
  if (roll < 75) return later(dice, () => outcome(dice, failure, make));
  if (roll < 82) return null;
  if (roll < 84) return undefined;
  if (roll < 86) return new Error('An error that was returned.');
  if (roll < 88)
    return dice.pick<unknown>([7, 'text', {}, [], Symbol('s'), 10n, NaN, new Date(0), () => 1, new Map([[1, 2]])]);
  throw dice.pick(failure.isTame ? errors : [...errors, ...oddities]);
}

function later(dice: Dice, make: () => unknown): unknown {
  const ticks = dice.pick([0, 0, 1, 2, 3, 5, 9]);
  const promise = (async () => {
    if (ticks === 9) await new Promise((resolve) => setImmediate(resolve));
    else for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    return make();
  })();
  // One that GraphQL does not come to wait for must not count as one that it forgot.
  promise.catch(() => undefined);
  // A promise can be one of a library.
  return dice.below(8) === 0 ? { then: promise.then.bind(promise) } : promise;
}

function good(schema: GraphQLSchema, given: GraphQLOutputType, dice: Dice, failure: FailureOptions): unknown {
  const type = getNullableType(given);
  if (isListType(type)) {
    const items = Array.from({ length: dice.below(4) }, () => {
      const item = () => good(schema, type.ofType, dice, failure);
      return dice.below(6) === 0 ? withoutThrow(dice, failure, item) : item();
    });
    return dice.below(8) === 0 ? new Set(items) : items;
  }
  if (isObjectType(type)) return objectOf(schema, type.name, dice, failure);
  if (isAbstractType(type)) {
    const names = schema.getPossibleTypes(type).map(({ name }) => name);
    return objectOf(
      schema,
      dice.below(8) === 0 ? dice.pick(['Apple', 'Pear', 'Stone']) : dice.pick(names),
      dice,
      failure,
    );
  }
  if (isEnumType(type)) return dice.below(8) === 0 ? 'NONE' : dice.pick(type.getValues()).value;
  switch (type.name) {
    case 'Boolean':
      return dice.below(2) === 0;
    case 'Int':
      return dice.pick([0, 1, -5, 2 ** 31, 1.5]);
    case 'Float':
      return dice.pick([0, 1.5, Infinity]);
    case 'ID':
      return dice.pick<unknown>(['x', 7, {}]);
    case 'Moody':
      return dice.pick(['fine', 'fine', 'fine', 'throw', 'reject', 'null', 'undefined']);
    default:
      return dice.pick<unknown>(['text', '', 5, true]);
  }
}

/** An item of a list fails by being a rejected promise or an Error. */
function withoutThrow(dice: Dice, failure: FailureOptions, make: () => unknown): unknown {
  try {
    return outcome(dice, failure, make);
  } catch (error) {
    const fail = () => {
      throw error;
    };
    return dice.below(2) === 0 ? later(dice, fail) : new Error('An item that is an error.');
  }
}

interface Made {
  readonly kind: string;
  readonly mood: number;
}

function kindOf(value: unknown): string | undefined {
  return (value as Partial<Made> | null | undefined)?.kind;
}

/** An object whose members are made when they are read, because an unread promise must not be rejected. */
function objectOf(schema: GraphQLSchema, kind: string, dice: Dice, failure: FailureOptions): Made {
  const type = schema.getType(kind);
  const made: Made & Record<string, unknown> = { kind, mood: dice.below(40) };
  if (dice.below(4) > 0) made['__typename'] = dice.below(30) === 0 ? 'Nothing' : kind;
  const own = dice.below(2 ** 31);
  for (const { name, type: fieldType } of isObjectType(type) ? Object.values(type.getFields()) : []) {
    const read = () => {
      const member = diceFor(own, name);
      return outcome(member, failure, () => good(schema, fieldType, member, failure));
    };
    if (diceFor(own, name).below(10) === 0) {
      made[name] = function (this: unknown, args: unknown, context: FailureOptions, info: GraphQLResolveInfo) {
        note(context, this, args, info);
        return read();
      };
    } else Object.defineProperty(made, name, { get: read, enumerable: false });
  }
  return made;
}

function isStone(value: unknown, { calls }: FailureOptions, info: GraphQLResolveInfo): boolean | Promise<boolean> {
  calls.push(`isStone ${responsePathAsArray(info.path).join('.')} ${kindOf(value)}`);
  const is = kindOf(value) === 'Stone';
  const { mood = 0 } = (value ?? {}) as Partial<Made>;
  if (mood === 1) throw new Error('Not resolvable.');
  if (mood === 2) return Promise.reject(new Error('Not resolvable, later.'));
  if (mood === 3) return !is;
  return mood % 2 === 0 ? is : Promise.resolve(is);
}

function resolveAny(
  value: unknown,
  { calls }: FailureOptions,
  info: GraphQLResolveInfo,
): string | Promise<string | undefined> | undefined {
  calls.push(`resolveAny ${responsePathAsArray(info.path).join('.')} ${kindOf(value)}`);
  const { kind, mood = 0 } = (value ?? {}) as Partial<Made>;
  const invalid: unknown[] = [null, 'Unknown', 'Color', 'Query', 7, info.parentType, undefined];
  if (mood < invalid.length) return invalid[mood] as string;
  if (mood === 7) throw new Error('No idea.');
  if (mood === 8) return Promise.reject(new Error('No idea, later.'));
  return mood % 2 === 0 ? kind : Promise.resolve(kind);
}

function serializeMoody(value: unknown): unknown {
  if (value === 'throw') throw new Error('Not to be written.');
  if (value === 'reject') throw new GraphQLError('Rejected by serialize.');
  return value === 'null' ? null : value === 'undefined' ? undefined : value;
}

function parseMoody(value: unknown): unknown {
  if (value === 'bad') throw new Error('Not to be read.');
  if (value === 'worse') throw new GraphQLError('Rejected by parse.');
  return value === 'nothing' ? undefined : value;
}
