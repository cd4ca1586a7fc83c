import type * as z from 'zod';
import type { Issue, Path } from '../lib/errors.js';
import { isObject } from '../lib/json.js';
import type { FieldChange } from '../keys/key.js';
import { KeyDefinition } from '../keys/definition/schema.js';
import { unwrapSchema, memberOf, shapeOf } from '../keys/definition/introspection.js';

/** Returns the name of a field in REST: `quotaRenewalRate` -> `quota_renewal_rate`, `apiID` -> `api_id`. */
export function wireName(field: string): string {
  return field.replace('ID', 'Id').replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/** A list whose entries have this field is an object in REST, whose member names are the labels. */
export const labelField = 'label';

/** The name of the label in REST. No member of an entry can have it, so that REST rejects a member `label`. */
const noMember = '(label)';

const pairs = fieldsOf(KeyDefinition).map(
  (field) => [field, field === labelField ? noMember : wireName(field)] as const,
);
const others = new Map([...pairs, ...pairs.map(([field, wire]) => [wire, field] as const)]);

/**
 * Converts a name between REST and the domain. It is its own inverse: a known name of either becomes the other, and any other
 * name stays. REST therefore rejects the names of the domain as unknown.
 */
function renamed(name: string): string {
  return others.get(name) ?? name;
}

/** Converts the names in backticks of a message to those of REST. */
export function textToWire(text: string): string {
  return text.replace(/`(\w+)`/g, (_, field: string) => `\`${renamed(field)}\``);
}

/** Converts a body to the names of the domain. Invalid parts stay, so that validation reports them. */
export function definitionFromWire(body: unknown): unknown {
  return fromWire(KeyDefinition, body);
}

function fromWire(schema: z.core.$ZodType, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([wire, member]) => {
        // `(label)` is not a name of the domain and must not become one.
        const field = wire === noMember ? wire : renamed(wire);
        const inner = Object.hasOwn(shape, field) ? shape[field] : undefined;
        if (field === 'accessRights' && inner) return [field, entriesFromWire(inner, member)];
        return [field, inner ? fromWire(inner, member) : member];
      }),
    );
  }
  const member = memberOf(schema);
  return member && Array.isArray(value) ? value.map((item) => fromWire(member, item)) : value;
}

function entriesFromWire(list: z.core.$ZodType, value: unknown): unknown {
  const entry = memberOf(list);
  if (value === null || value === undefined || !entry) return value;
  // REST accepts an object only; the domain would accept a list.
  if (!isObject(value)) return false;
  return labelled(value).map(([label, rights]) => {
    const fields = fromWire(entry, rights);
    return isObject(fields) ? { ...fields, label } : fields;
  });
}

/** Returns the entries. Null is the same as an absent entry. */
function labelled(rights: object): [string, unknown][] {
  return Object.entries(rights).filter(([, entry]) => entry !== null);
}

/** Converts the paths and messages of issues to the names of REST. `body` is the request body in the names of REST. */
export function issuesToWire(issues: readonly Issue[], body: unknown): Issue[] {
  const rights = isObject(body) ? body['access_rights'] : undefined;
  const labels = isObject(rights) ? labelled(rights).map(([label]) => label) : [];
  return issues.map((issue) => issueToWire(issue, labels));
}

/** @param labels those of the access rights, in their order */
function issueToWire(issue: Issue, labels: readonly string[]): Issue {
  const [first, second, ...rest] = issue.path;
  const message =
    first === 'accessRights' && second === undefined && issue.code === 'WRONG_TYPE'
      ? 'must be an object of labels and their entries'
      : // `(label)` must not be suggested: it is not a field.
        textToWire(issue.message).replace(`; did you mean \`${noMember}\`?`, '');
  if (first !== 'accessRights' || typeof second !== 'number') {
    return { ...issue, path: pathToWire(issue.path), message };
  }
  const inside = rest.at(-1) === labelField ? rest.slice(0, -1) : rest;
  const path: Path = ['access_rights', labels[second] ?? second, ...pathToWire([first, second, ...inside]).slice(2)];
  return { ...issue, path, message };
}

/** Converts the names of fields in a path. Names inside free-form JSON are the client's and stay. */
function pathToWire(path: Path): Path {
  return follow(path).path;
}

/** Converts a path, and returns the schema of the value at its end; undefined inside free-form JSON. */
function follow(path: Path): { path: Path; schema: z.core.$ZodType | undefined } {
  let at: z.core.$ZodType | undefined = KeyDefinition;
  const renamedPath = path.map((step) => {
    const shape = at && shapeOf(at);
    const name = shape && typeof step === 'string' ? renamed(step) : step;
    const inner: z.core.$ZodType | undefined = shape && Object.hasOwn(shape, step) ? shape[step] : undefined;
    // A step into a list is the position of an entry or its label.
    at = (at && memberOf(at)) ?? inner;
    return name;
  });
  return { path: renamedPath, schema: at };
}

/** Converts the path of a part of a definition, and returns the function that converts its value. */
export function partToWire(path: Path): { path: Path; valueToWire: (value: unknown) => unknown } {
  const { path: wirePath, schema } = follow(path);
  const entry = schema && memberOf(schema);
  return {
    path: wirePath,
    valueToWire: (value) => {
      if (!schema || value === undefined) return value;
      if (!entry || !isObject(value)) return toWire(schema, value);
      return Object.fromEntries(Object.entries(value).map(([label, rights]) => [label, toWire(entry, rights)]));
    },
  };
}

/** Converts a changed field to the names of REST, which webhooks use too. */
export function changedPartToWire({
  path,
  before,
  after,
}: FieldChange): Pick<FieldChange, 'path' | 'before' | 'after'> {
  const part = partToWire(path);
  return { path: part.path, before: part.valueToWire(before), after: part.valueToWire(after) };
}

/** Converts a definition to the names of REST, with its members in the order of the key API's document. */
export function definitionToWire(definition: object): Record<string, unknown> {
  return toWire(KeyDefinition, definition) as Record<string, unknown>;
}

function toWire(schema: z.core.$ZodType, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape && isObject(value)) {
    return Object.fromEntries(
      Object.entries(shape).flatMap(([field, inner]) => {
        const member: unknown = Reflect.get(value, field);
        if (member === undefined || field === labelField) return [];
        return [[wireName(field), field === 'accessRights' ? entriesToWire(inner, member) : toWire(inner, member)]];
      }),
    );
  }
  const member = memberOf(schema);
  if (member && Array.isArray(value)) return value.map((item) => toWire(member, item));
  // GraphQL returns integers that are not exact as doubles as text.
  return typeof value === 'string' && unwrapSchema(schema)._zod.def.type === 'bigint' ? BigInt(value) : value;
}

function entriesToWire(list: z.core.$ZodType, rights: unknown): unknown {
  const entry = memberOf(list);
  if (!entry || !Array.isArray(rights)) return rights;
  return Object.fromEntries(rights.map((right: { label: string }) => [right.label, toWire(entry, right)]));
}

function fieldsOf(schema: z.core.$ZodType): string[] {
  const shape = shapeOf(memberOf(schema) ?? schema);
  return Object.entries(shape ?? {}).flatMap(([field, inner]) => [field, ...fieldsOf(inner)]);
}
