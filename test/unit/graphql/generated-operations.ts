import {
  getNamedType,
  isCompositeType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import { createValues, literalOf, wrongValues, type Hints, type Random } from './generated-values.js';

export interface Operation {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Record<string, unknown>;
}

interface Options {
  readonly hints?: Hints;
  /** How many parts a selection has at the most. */
  readonly maxParts?: number;
  /** Of how many variables one has a value of another type. */
  readonly wrongOneIn?: number;
}

interface Declared {
  readonly type: string;
  readonly byDefault: string | undefined;
  /** Undefined where it is not sent. */
  readonly value: unknown;
}

interface Fragment {
  readonly name: string;
  readonly on: string;
  readonly body: string;
}

/** Whether two services answer differently, because the result has secrets and identifiers that are random. */
export function hasRandomResult({ query }: Pick<Operation, 'query'>): boolean {
  return /keyCredential|keyWebhook/i.test(query);
}

/**
 * Generates documents: fields with aliases, merged fields, fragments within fragments, literals and variables of every
 * kind, defaults, conditions, several operations. Most are valid, and most values fit; those that do not are wanted too.
 */
export function generateOperation(
  schema: GraphQLSchema,
  random: Random,
  { hints = () => undefined, maxParts = 4, wrongOneIn = 12 }: Options = {},
): Operation {
  const { below, pick } = random;
  const chance = (outOf: number) => below(outOf) === 0;
  const valueOf = createValues(random, hints);
  const variables = new Map<string, Declared>();
  const fragments: Fragment[] = [];
  let aliases = 0;

  function selection(type: GraphQLCompositeType, depth: number): string {
    const parts = Array.from({ length: 1 + below(maxParts) }, () => partOf(type, depth));
    return `{ ${parts.join(' ')} }`;
  }

  function partOf(type: GraphQLCompositeType, depth: number): string {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const open = depth > 0 ? fields : fields.filter((field) => !isCompositeType(getNamedType(field.type)));
    const roll = below(10);
    if (depth > 0 && (roll < 2 || (roll < 7 && fields.length === 0))) return fragmentOf(type, depth);
    if (open.length === 0 || roll === 9) return `${chance(3) ? `${alias()}: ` : ''}__typename${conditions()}`;
    return fieldOf(pick(open), depth);
  }

  function fieldOf(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    const args = argsOf(field.args);
    // Fields with arguments are distinguished, because only equal ones may merge.
    const name = args !== '' || chance(6) ? `${alias()}: ${field.name}` : field.name;
    const once = () => `${name}${args}${conditions()}${isCompositeType(type) ? ` ${selection(type, depth - 1)}` : ''}`;
    return chance(5) ? `${once()} ${once()}` : once();
  }

  function alias(): string {
    if (chance(40)) return pick(['__proto__', 'constructor', 'toString', 'then', 'hasOwnProperty']);
    aliases += 1;
    return `a${aliases}`;
  }

  function fragmentOf(type: GraphQLCompositeType, depth: number): string {
    const objects = isObjectType(type) ? [type] : schema.getPossibleTypes(type);
    const on = pick([type, ...objects, ...objects.flatMap((object) => object.getInterfaces())]);
    if (chance(2)) {
      const condition = on === type && chance(3) ? '' : ` on ${on.name}`;
      return `...${condition}${conditions()} ${selection(on, depth - 1)}`;
    }
    const known = fragments.filter((fragment) => fragment.on === on.name);
    if (known.length > 0 && chance(2)) return `...${pick(known).name}${conditions()}`;
    const body = selection(on, depth - 1);
    const name = `F${fragments.length}`;
    fragments.push({ name, on: on.name, body });
    return `...${name}${conditions()}`;
  }

  function conditions(): string {
    if (!chance(6)) return '';
    const condition = () => (chance(2) ? String(chance(2)) : conditionVariable());
    const directives = [`@skip(if: ${condition()})`, `@include(if: ${condition()})`];
    return ` ${chance(3) ? directives.join(' ') : pick(directives)}`;
  }

  /** One variable of a few, so that conditions go together. */
  function conditionVariable(): string {
    const name = `b${below(3)}`;
    const [type, byDefault] = pick([
      ['Boolean!', undefined],
      ['Boolean!', undefined],
      ['Boolean!', 'false'],
      ['Boolean', 'true'],
    ]);
    const sent = type === 'Boolean' && chance(4) ? null : chance(2);
    const value = byDefault !== undefined && chance(2) ? undefined : sent;
    if (!variables.has(name)) variables.set(name, { type: type ?? '', byDefault, value });
    return `$${name}`;
  }

  function argsOf(args: readonly GraphQLArgument[]): string {
    const given = args.flatMap(({ name, type, default: literal, defaultValue }) => {
      const hasDefault = literal !== undefined || defaultValue !== undefined;
      if ((!isNonNullType(type) || hasDefault) && chance(2)) return [];
      return `${name}: ${chance(2) ? declare(name, type, hasDefault) : literalOf(valueOf(name, type, 3, declare), type)}`;
    });
    return given.length > 0 ? `(${given.join(', ')})` : '';
  }

  /** A variable of the type, or of a stricter one, or of a looser one where a default makes up for it. */
  function declare(hint: string, type: GraphQLInputType, hasDefault: boolean): string {
    const name = `v${variables.size}`;
    const nullable = isNonNullType(type) ? type.ofType : type;
    const byDefault = chance(4) ? literalOf(valueOf(hint, nullable, 2), nullable) : undefined;
    const hasValue = byDefault !== undefined && byDefault !== 'null';
    const isLoose = (!isNonNullType(type) || hasDefault || hasValue) && !chance(4);
    const isOmitted = chance(isLoose || hasValue ? 3 : 30);
    const value = chance(wrongOneIn) ? pick(wrongValues) : valueOf(hint, type, 3);
    variables.set(name, {
      type: `${String(nullable)}${isLoose ? '' : '!'}`,
      byDefault: isLoose || hasValue ? byDefault : undefined,
      value: isOmitted ? undefined : value,
    });
    return `$${name}`;
  }

  /** The fragments that a text needs, and those that they need. */
  function neededBy(text: string, found = new Set<Fragment>()): Set<Fragment> {
    for (const [, name] of text.matchAll(/\.\.\.(F\d+)/g)) {
      const fragment = fragments.find((one) => one.name === name);
      if (!fragment || found.has(fragment)) continue;
      neededBy(fragment.body, found.add(fragment));
    }
    return found;
  }

  const roots = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION].flatMap((kind) => {
    const type = schema.getRootType(kind);
    return type ? [{ kind, type }] : [];
  });
  const operations = Array.from({ length: chance(4) ? 2 : 1 }, (_, index) => {
    const { kind, type } = pick(roots);
    const body = selection(type, 1 + below(4));
    return { kind, name: `O${index}`, body, fragments: neededBy(body) };
  });
  const isNamed = operations.length > 1 || chance(2);
  const texts = operations.map(({ kind, name, body, fragments: needed }) => {
    const all = [body, ...[...needed].map((fragment) => fragment.body)].join(' ');
    const declarations = [...variables]
      .filter(([variable]) => new RegExp(`\\$${variable}\\b`).test(all))
      .map(([variable, { type, byDefault }]) => `$${variable}: ${type}${byDefault ? ` = ${byDefault}` : ''}`);
    return `${kind} ${isNamed ? name : ''}${declarations.length > 0 ? `(${declarations.join(', ')})` : ''} ${body}`;
  });
  const needed = new Set(operations.flatMap((operation) => [...operation.fragments]));
  const sent = [...variables].filter(([, { value }]) => value !== undefined);
  return {
    query: [...texts, ...[...needed].map(({ name, on, body }) => `fragment ${name} on ${on} ${body}`)].join('\n'),
    operationName: operations.length > 1 || (isNamed && chance(2)) ? pick(operations).name : undefined,
    variables: Object.fromEntries(sent.map(([name, { value }]) => [name, value])),
  };
}
