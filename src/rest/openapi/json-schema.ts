import * as z from 'zod';
import {
  unwrapSchema,
  descriptionOf,
  inputDescriptionOf,
  memberOf,
  maxCharacters,
  maxMembers,
  objectTraitsOf,
  scalarOf,
  shapeOf,
  traitsOf,
  type Scalar,
} from '../../keys/definition/introspection.js';
import type { FieldTraits } from '../../keys/definition/field-types.js';
import { labelField } from '../../keys/definition/schema.js';
import { textToWire, wireName } from '../../wire/field-names.js';

/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** The object that a schema describes: a request, the result of a preview, or a stored key, without or with its secrets. */
export interface Target {
  readonly direction: 'input' | 'preview' | 'stored' | 'delivered';
  /** Collects the schemas of nested objects, by name. */
  readonly components: Map<string, JSONSchema>;
}

type Schema = z.core.$ZodType;

const scalars: Record<Scalar, JSONSchema> = {
  Int64: { type: 'integer', format: 'int64' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number', format: 'double' },
  String: { type: 'string' },
  Boolean: { type: 'boolean' },
  ID: { type: 'string' },
  KeyDateTime: { type: 'string', format: 'date-time' },
  JSON: {},
  JSONObject: { type: 'object' },
  KeyPolicyPart: { type: 'string' },
};

/** The JSON Schema of an object of the definition schema, with the field names of REST. */
export function objectSchema(object: Schema, target: Target): JSONSchema {
  const { [labelField]: _, ...fields } = shapeOf(object) ?? {};
  const shown = Object.entries(fields).filter(([, field]) => isShown(field, target.direction));
  return {
    type: 'object',
    properties: Object.fromEntries(shown.map(([name, field]) => [wireName(name), fieldSchema(field, target)])),
    // A request with an unknown member is rejected. A later version may add members to responses.
    ...(target.direction === 'input' && { additionalProperties: false }),
  };
}

/** Responses have no deprecated field. A preview has no ignored field and no password; only a delivered key has its secrets. */
function isShown(field: Schema, direction: Target['direction']): boolean {
  const { deprecated, serverOwned, secret, only } = traitsOf(field);
  if (direction === 'input') return true;
  if (deprecated) return false;
  if (direction === 'preview') return !serverOwned && secret !== 'hashed';
  return only !== 'preview' && (direction === 'delivered' || !secret);
}

function fieldSchema(field: Schema, target: Target): JSONSchema {
  const { deprecated, obsolete, secret, serverOwned } = traitsOf(field);
  const notice = deprecated ?? obsolete;
  const isInput = target.direction === 'input';
  const value = valueSchema(field, target);
  const outputText = secret ? secretText(secret, target) : descriptionOf(field);
  const text = isInput ? inputDescriptionOf(field) : outputText;
  return {
    ...(isInput ? orNull(value) : value),
    description: textToWire(notice ? `${text} ${notice}` : text),
    ...(notice && { deprecated: true }),
    ...(secret && isInput && { writeOnly: true }),
    ...(serverOwned && { readOnly: true }),
  };
}

function secretText(secret: NonNullable<FieldTraits['secret']>, { direction }: Target): string {
  if (direction !== 'delivered') return 'The secret as it was sent.';
  return secret === 'hashed' ? 'The hash of the secret.' : 'The secret.';
}

function orNull(schema: JSONSchema): JSONSchema {
  // A value of any type may be null.
  if (Object.keys(schema).length === 0) return schema;
  return 'type' in schema ? { ...schema, type: [schema['type'], 'null'] } : { anyOf: [schema, { type: 'null' }] };
}

function valueSchema(field: Schema, target: Target): JSONSchema {
  const member = memberOf(field);
  if (!member)
    return shapeOf(field)
      ? reference(field, target)
      : { ...scalars[scalarOf(field)], ...boundsOf(unwrapSchema(field)) };
  const item = valueSchema(member, target);
  const max = maxMembers(field);
  const label = shapeOf(member)?.[labelField];
  if (!label) return { type: 'array', items: item, maxItems: max };
  const entry = target.direction === 'input' ? orNull(item) : item;
  return {
    type: 'object',
    propertyNames: boundsOf(unwrapSchema(label)),
    additionalProperties: entry,
    maxProperties: max,
  };
}

function reference(object: Schema, target: Target): JSONSchema {
  const traits = objectTraitsOf(object);
  if (!traits) throw new Error('Every object of the definition schema must have a name.');
  // A preview echoes some secrets of an object; a stored key does not contain them.
  const secrets = Object.values(shapeOf(object) ?? {}).flatMap((field) => traitsOf(field).secret ?? []);
  const stored = secrets.includes('sealed') ? 'Stored' : '';
  const prefixes = { input: '', preview: '', stored, delivered: secrets.length > 0 ? 'Delivered' : '' };
  const suffix = target.direction === 'input' ? 'Input' : '';
  const name = `${prefixes[target.direction]}${traits.name}${suffix}`;
  target.components.set(name, { description: textToWire(traits.description), ...objectSchema(object, target) });
  return { $ref: `#/components/schemas/${name}` };
}

/** The bounds that a scalar's format does not imply. */
function boundsOf(leaf: Schema): JSONSchema {
  const maxLength = maxCharacters(leaf);
  if (maxLength !== undefined) return { maxLength };
  if (!(leaf instanceof z.ZodNumber || leaf instanceof z.ZodBigInt)) return {};
  const minimum = Number(leaf.minValue ?? -Infinity);
  return minimum > -(2 ** 31) ? { minimum } : {};
}
