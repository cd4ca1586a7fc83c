import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLNonNull,
  type GraphQLSchema,
} from 'graphql';
import type { createRandom } from '../support/generated.js';

type Random = ReturnType<typeof createRandom>;

export interface Operation {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown>;
}

/** Values that make sense for an argument or a field of an input; undefined where any value of the type will do. */
export type Hints = (name: string, typeName: string) => readonly unknown[] | undefined;

/** Keeps a value out of variables, and is printed as it is where a literal is wanted. */
class Variable {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Generates documents: fields with aliases, merged fields, fragments within fragments, literals and variables of every
 * kind, defaults, conditions, several operations. Most are valid, and most values fit; those that do not are the point too.
 */
export function generateOperation(schema: GraphQLSchema, random: Random, hints: Hints = () => undefined): Operation {
  const { below, pick } = random;
  const chance = (outOf: number) => below(outOf) === 0;
  const variables = new Map<string, { type: string; byDefault: string | undefined; value: unknown }>();
  const fragments: { name: string; on: string; body: string }[] = [];
  let aliases = 0;

  function selection(type: GraphQLCompositeType, depth: number): string {
    const parts: string[] = [];
    const count = 1 + below(4);
    for (let index = 0; index < count; index += 1) parts.push(...part(type, depth));
    return `{ ${parts.join(' ')} }`;
  }

  function part(type: GraphQLCompositeType, depth: number): string[] {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const open = depth > 0 ? fields : fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const roll = below(10);
    if (roll === 0 || open.length === 0) {
      if (depth > 0 && roll > 2 && !('getFields' in type)) return [fragment(type, depth)];
      return [`${chance(3) ? `${alias()}: ` : ''}__typename${conditions()}`];
    }
    if (roll < 3 && depth > 0) return [fragment(type, depth)];
    return fieldOf(pick(open), depth);
  }

  function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string[] {
    const named = getNamedType(field.type);
    const given = args(field.args);
    // Fields with arguments are told apart, because only equal ones may merge.
    const name = given !== '' || chance(6) ? `${alias()}: ${field.name}` : field.name;
    const once = () =>
      `${name}${given}${conditions()}${isCompositeType(named) ? ` ${selection(named, depth - 1)}` : ''}`;
    return chance(5) ? [once(), once()] : [once()];
  }

  function alias(): string {
    if (chance(40)) return pick(['__proto__', 'constructor', 'toString', 'then', 'hasOwnProperty']);
    aliases += 1;
    return `a${aliases}`;
  }

  function fragment(type: GraphQLCompositeType, depth: number): string {
    const possible = isObjectType(type)
      ? [type, ...type.getInterfaces()]
      : [
          type,
          ...schema.getPossibleTypes(type),
          ...schema.getPossibleTypes(type).flatMap((object) => object.getInterfaces()),
        ];
    const on = pick(possible);
    if (chance(2)) {
      const condition = on === type && chance(3) ? '' : ` on ${on.name}`;
      return `...${condition}${conditions()} ${selection(on, depth - 1)}`;
    }
    const known = fragments.filter((other) => other.on === on.name);
    if (known.length > 0 && chance(2)) return `...${pick(known).name}${conditions()}`;
    const body = selection(on, depth - 1);
    const name = `F${fragments.length}`;
    fragments.push({ name, on: on.name, body });
    return `...${name}${conditions()}`;
  }

  function conditions(): string {
    if (!chance(6)) return '';
    const condition = () => (chance(2) ? String(chance(2)) : booleanVariable());
    const directives = [`@skip(if: ${condition()})`, `@include(if: ${condition()})`];
    return ` ${chance(3) ? directives.join(' ') : pick(directives)}`;
  }

  /** One of a few, so that combinations come back. */
  function booleanVariable(): string {
    const name = `b${below(3)}`;
    if (!variables.has(name)) {
      const [type, byDefault] = pick([
        ['Boolean!', undefined],
        ['Boolean!', undefined],
        ['Boolean! = false', 'false'],
        ['Boolean = true', 'true'],
      ]);
      const isOmitted = byDefault !== undefined && chance(2);
      const value = isOmitted ? undefined : type.startsWith('Boolean =') && chance(4) ? null : chance(2);
      variables.set(name, { type: type.split(' ')[0] ?? '', byDefault, value });
    }
    return `$${name}`;
  }

  function args(definitions: readonly GraphQLArgument[]): string {
    const given = definitions.flatMap((argument) => {
      const isRequired = isNonNullType(argument.type) && argument.defaultValue === undefined;
      if (!isRequired && chance(2)) return [];
      return `${argument.name}: ${argumentValue(argument)}`;
    });
    return given.length > 0 ? `(${given.join(', ')})` : '';
  }

  function argumentValue({ name, type, defaultValue }: GraphQLArgument): string {
    if (chance(2)) return variable(name, type, defaultValue !== undefined);
    return literal(valueOf(name, type, 3, true), type);
  }

  /** A variable of this type, a stricter one, or a looser one where a default makes up for it. */
  function variable(hint: string, type: GraphQLInputType, hasDefault: boolean): string {
    const name = `v${variables.size}${chance(9) ? '_' : ''}`;
    const nullable = isNonNullType(type) ? type.ofType : type;
    const value = valueOf(hint, type, 3, false);
    const byDefault = chance(4)
      ? literal(valueOf(hint, nullable, 2, false) ?? valueOf(hint, nullable, 2, false), nullable)
      : undefined;
    const mayBeLoose = !isNonNullType(type) || hasDefault || (byDefault !== undefined && byDefault !== 'null');
    const declared = mayBeLoose && !chance(4) ? String(nullable) : `${String(nullable)}!`;
    const isOmitted = chance(declared.endsWith('!') && byDefault === undefined ? 30 : 3);
    const sent = isOmitted ? undefined : chance(12) ? wrongValue() : value;
    variables.set(name, {
      type: declared,
      byDefault: declared.endsWith('!') && byDefault === 'null' ? undefined : byDefault,
      value: sent,
    });
    return `$${name}`;
  }

  function wrongValue(): unknown {
    return pick<unknown>([
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
      { __proto__: null, toString: 1 },
    ]);
  }

  /** A value as JSON has it, with variables in it where it is to become a literal. */
  function valueOf(hint: string, type: GraphQLInputType, depth: number, isLiteral: boolean): unknown {
    if (isNonNullType(type)) {
      const inner = (type as GraphQLNonNull<GraphQLInputType>).ofType;
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const value = valueOf(hint, inner, depth, isLiteral);
        if (value !== null) return value;
      }
    } else if (chance(8)) return null;
    const named = getNamedType(type);
    const hinted = hints(hint, named.name);
    if (hinted && !isListType(type)) return pick(hinted);
    if (isListType(type)) {
      const item = (type as GraphQLList<GraphQLInputType>).ofType;
      if (chance(5)) return valueOf(hint, item, depth, isLiteral);
      return Array.from({ length: below(4) }, () =>
        isLiteral && chance(8) ? new Variable(variable(hint, item, false)) : valueOf(hint, item, depth, isLiteral),
      );
    }
    if (isEnumType(named)) return pick(named.getValues()).name;
    if (isInputObjectType(named)) {
      const fields = Object.values(named.getFields());
      if (named.isOneOf) {
        const field = pick(fields);
        return { [field.name]: valueOf(field.name, field.type, 0, false) };
      }
      const chosen = fields.filter((field) => {
        const isRequired = isNonNullType(field.type) && field.defaultValue === undefined;
        return isRequired || (depth > 0 && below(fields.length) < 4);
      });
      return Object.fromEntries(
        chosen.map((field) => [
          field.name,
          isLiteral && chance(6)
            ? new Variable(variable(field.name, field.type, field.defaultValue !== undefined))
            : valueOf(field.name, field.type, depth - 1, isLiteral),
        ]),
      );
    }
    switch (named.name) {
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

  /** The parts of a document that a part needs, itself included. */
  function needs(text: string, found = new Set<string>()): Set<string> {
    for (const [, name = ''] of text.matchAll(/\.\.\.(F\d+)/g)) {
      const fragment = fragments.find((other) => other.name === name);
      if (!fragment || found.has(name)) continue;
      found.add(name);
      needs(fragment.body, found);
    }
    return found;
  }

  const roots = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION].flatMap((kind) => {
    const type = schema.getRootType(kind);
    return type ? [{ kind, type }] : [];
  });
  const bodies = Array.from({ length: chance(4) ? 2 : 1 }, (_, index) => {
    const root = pick(roots);
    return { ...root, name: `O${index}`, body: selection(root.type, 1 + below(4)) };
  });
  const needed = new Set(bodies.flatMap(({ body }) => [...needs(body)]));
  const isNamed = bodies.length > 1 || chance(2);
  const texts = bodies.map(({ kind, name, body }) => {
    const all = [
      body,
      ...[...needs(body)].map((other) => fragments.find((one) => one.name === other)?.body ?? ''),
    ].join(' ');
    const used = [...variables].filter(([variableName]) => new RegExp(`\\$${variableName}\\b`).test(all));
    const declarations = used.map(
      ([variableName, { type, byDefault }]) =>
        `$${variableName}: ${type}${byDefault === undefined ? '' : ` = ${byDefault}`}`,
    );
    return `${kind} ${isNamed ? name : ''}${declarations.length > 0 ? `(${declarations.join(', ')})` : ''} ${body}`;
  });
  const fragmentTexts = fragments
    .filter(({ name }) => needed.has(name))
    .map(({ name, on, body }) => `fragment ${name} on ${on} ${body}`);
  const sent = [...variables].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    query: [...texts, ...fragmentTexts].join('\n'),
    operationName: bodies.length > 1 || (isNamed && chance(2)) ? pick(bodies).name : undefined,
    variables: Object.fromEntries(sent),
  };
}

function literal(value: unknown, type: GraphQLInputType): string {
  if (value instanceof Variable) return value.name;
  if (value === null || value === undefined) return 'null';
  if (isNonNullType(type)) return literal(value, type.ofType);
  if (isListType(type)) {
    const item = type.ofType;
    return Array.isArray(value) ? `[${value.map((one) => literal(one, item)).join(', ')}]` : literal(value, item);
  }
  if (isEnumType(type)) return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, type)).join(', ')}]`;
  if (typeof value === 'object') {
    const fields = isInputObjectType(type) ? type.getFields() : {};
    const members = Object.entries(value).map(
      ([name, member]) => `${name}: ${literal(member, fields[name]?.type ?? type)}`,
    );
    return `{${members.join(', ')}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
