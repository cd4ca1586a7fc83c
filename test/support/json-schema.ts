/** A schema of the OpenAPI document, or the document itself. */
export type Schema = Readonly<Record<string, unknown>>;

/** What only tells people, or is not for a validator to judge. */
const silent = new Set(['description', 'format', 'deprecated', 'readOnly', 'writeOnly']);

/**
 * Where a value is not what a JSON Schema says, by the few keywords that our document uses. Written apart from what
 * writes the document, and throws for a keyword that it does not know.
 */
export function mismatches(document: Schema, schema: Schema, value: unknown, at = ''): string[] {
  return Object.entries(schema).flatMap(([keyword, argument]) => {
    if (silent.has(keyword)) return [];
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (!check) throw new Error(`The keyword ${keyword} is not known to this validator.`);
    const inside = (inner: Schema, of: unknown, step = '') => mismatches(document, inner, of, `${at}${step}`);
    const found = check({ argument, value, schema, document, inside });
    return typeof found === 'boolean' ? (found ? [] : [`${at} ${keyword}`]) : found;
  });
}

interface Look {
  readonly argument: unknown;
  readonly value: unknown;
  readonly schema: Schema;
  readonly document: Schema;
  readonly inside: (schema: Schema, value: unknown, step?: string) => string[];
}

type Check = (look: Look) => boolean | string[];

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const entriesOf = (value: unknown) => (isObject(value) ? Object.entries(value) : []);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: Number.isSafeInteger,
  null: (value) => value === null,
};

const keywords: Readonly<Record<string, Check>> = {
  type: ({ argument, value }) => [argument].flat().some((name) => types[String(name)]?.(value) === true),
  const: ({ argument, value }) => same(argument, value),
  enum: ({ argument, value }) => (argument as unknown[]).some((one) => same(one, value)),
  minimum: ({ argument, value }) => typeof value !== 'number' || value >= Number(argument),
  maximum: ({ argument, value }) => typeof value !== 'number' || value <= Number(argument),
  maxLength: ({ argument, value }) => typeof value !== 'string' || value.length <= Number(argument),
  maxItems: ({ argument, value }) => !Array.isArray(value) || value.length <= Number(argument),
  maxProperties: ({ argument, value }) => entriesOf(value).length <= Number(argument),
  required: ({ argument, value }) => !isObject(value) || (argument as string[]).every((name) => name in value),
  anyOf: ({ argument, value, inside }) => (argument as Schema[]).some((one) => inside(one, value).length === 0),
  items: ({ argument, value, inside }) =>
    Array.isArray(value) ? value.flatMap((item, index) => inside(argument as Schema, item, `[${index}]`)) : [],
  properties: ({ argument, value, inside }) =>
    Object.entries(argument as Record<string, Schema>).flatMap(([name, inner]) =>
      isObject(value) && name in value ? inside(inner, value[name], `.${name}`) : [],
    ),
  propertyNames: ({ argument, value, inside }) =>
    entriesOf(value).flatMap(([name]) => inside(argument as Schema, name, `.${name}`)),
  additionalProperties: ({ argument, value, schema, inside }) => {
    const others = entriesOf(value).filter(([name]) => !Object.hasOwn((schema['properties'] as object) ?? {}, name));
    if (argument === false) return others.map(([name]) => `.${name} additionalProperties`);
    return others.flatMap(([name, member]) => inside(argument as Schema, member, `.${name}`));
  },
  $ref: ({ argument, value, document, inside }) => inside(resolved(document, String(argument)), value),
};

/** What a reference such as `#/components/schemas/Error` leads to. */
export function resolved(document: Schema, reference: string): Schema {
  const steps = reference.split('/').slice(1);
  const found = steps.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), document);
  if (!isObject(found)) throw new Error(`There is nothing at ${reference}.`);
  return found;
}
