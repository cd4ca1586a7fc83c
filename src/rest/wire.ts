import type { z } from 'zod';
import type { Issue, Path } from '../errors.js';
import { KeyDefinition } from '../keys/definition.js';
import { memberOf, shapeOf } from '../keys/table.js';

/** `quotaRenewalRate` -> `quota_renewal_rate`, `apiID` -> `api_id`. */
export function wireName(field: string): string {
  return field.replace('ID', 'Id').replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/** In REST a label is the name of its entry, so that no member of an entry may be called so. */
const noMember = '(label)';

const pairs = fieldsOf(KeyDefinition).map((field) => [field, field === 'label' ? noMember : wireName(field)] as const);
const others = new Map([...pairs, ...pairs.map(([field, wire]) => [wire, field] as const)]);

/**
 * The other face's name of a field. It is its own inverse: a name of either face becomes the other's, and a name of
 * neither stays. So a field of the domain's spelling is as unknown in REST as it should be, and every name comes back.
 */
function renamed(name: string): string {
  return others.get(name) ?? name;
}

/** A body in the domain's names. Keeps whatever is wrong with it for the rules to find. */
export function definitionFromWire(body: unknown): unknown {
  return fromWire(KeyDefinition, body);
}

function fromWire(schema: z.core.$ZodType, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([wire, member]) => {
        const field = renamed(wire);
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
  // Anything but an object is no access rights here; a list in particular, which the domain would take.
  if (!isObject(value)) return false;
  return labelled(value).map(([label, rights]) => {
    const fields = fromWire(entry, rights);
    return isObject(fields) ? { ...fields, label } : fields;
  });
}

/** Null stands for an entry that is not there. */
function labelled(rights: object): [string, unknown][] {
  return Object.entries(rights).filter(([, entry]) => entry !== null);
}

/** A problem's path and message in the names of REST; `body` is what it was found in. */
export function issueToWire(issue: Issue, body: unknown): Issue {
  const [first, second, ...rest] = issue.path;
  const message =
    first === 'accessRights' && second === undefined && issue.code === 'WRONG_TYPE'
      ? 'must be an object of labels and their entries'
      : issue.message.replace(/`(\w+)`/g, (_, field: string) => `\`${renamed(field)}\``);
  if (first !== 'accessRights' || typeof second !== 'number') {
    return { ...issue, path: issue.path.map((step) => (typeof step === 'string' ? renamed(step) : step)), message };
  }
  const rights = isObject(body) ? (Reflect.get(body, 'access_rights') as unknown) : undefined;
  const label = isObject(rights) ? labelled(rights)[second]?.[0] : undefined;
  const inside = rest.at(-1) === 'label' ? rest.slice(0, -1) : rest;
  const path: Path = [
    'access_rights',
    label ?? second,
    ...inside.map((step) => (typeof step === 'string' ? renamed(step) : step)),
  ];
  return { ...issue, path, message };
}

/** A definition in the names of REST, its members in the order of the key API's document. */
export function definitionToWire(definition: object): Record<string, unknown> {
  return toWire(KeyDefinition, definition) as Record<string, unknown>;
}

function toWire(schema: z.core.$ZodType, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (shape && isObject(value)) {
    return Object.fromEntries(
      Object.entries(shape).flatMap(([field, inner]) => {
        const member: unknown = Reflect.get(value, field);
        if (member === undefined || field === 'label') return [];
        return [[wireName(field), field === 'accessRights' ? entriesToWire(inner, member) : toWire(inner, member)]];
      }),
    );
  }
  const member = memberOf(schema);
  return member && Array.isArray(value) ? value.map((item) => toWire(member, item)) : value;
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
