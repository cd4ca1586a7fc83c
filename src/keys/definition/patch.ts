import type * as z from 'zod';
import { AppError, type Path } from '../../lib/errors.js';
import { isObject } from '../../lib/json.js';
import { isFreeForm } from './field-types.js';
import { memberOf, shapeOf, traitsOf } from './introspection.js';
import { invalidDefinition } from './issues.js';
import type { Definition } from './normalize.js';
import { parseDefinition } from './parse.js';
import { KeyDefinition, labelField } from './schema.js';

/**
 * Fields to change, in the names of the domain. A field that is absent keeps its value, and null clears it. An object is
 * patched in the same way; any other value replaces the stored one. The access rights are either a list, which names all
 * entries that the key has afterwards, or an object of labels, where null removes an entry. An entry that the key has
 * already is patched.
 */
export type DefinitionPatch = Readonly<Record<string, unknown>>;

/**
 * Returns the definition of an update that has the effect of the patch. Secrets are those of the patch, null to clear them.
 *
 * @throws {AppError} INVALID with the issues of the patched definition. Their paths name access rights by their labels.
 */
export function patchedDefinition(stored: Definition, patch: DefinitionPatch): KeyDefinition {
  const patched = patchFields(KeyDefinition.shape, stored, patch);
  try {
    return parseDefinition('update', patched);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidDefinition(error.issues.map((issue) => ({ ...issue, path: pathWithLabel(issue.path, patched) })));
  }
}

/** Returns the path with the label of an access right instead of its index, which the client of a patch does not know. */
export function pathWithLabel(path: Path, { accessRights }: Readonly<Record<string, unknown>>): Path {
  const [first, index, ...rest] = path;
  if (first !== 'accessRights' || typeof index !== 'number' || !Array.isArray(accessRights)) return path;
  const entry: unknown = accessRights[index];
  const label = isObject(entry) ? entry[labelField] : undefined;
  return typeof label === 'string' ? [first, label, ...rest] : path;
}

function patchFields(shape: z.core.$ZodShape, stored: unknown, patch: DefinitionPatch): Record<string, unknown> {
  const fields = new Map<string, unknown>(isObject(stored) ? Object.entries(stored) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    fields.set(name, schema ? patchValue(schema, fields.get(name), value) : value);
  }
  return Object.fromEntries(fields);
}

function patchValue(schema: z.core.$ZodType, stored: unknown, patch: unknown): unknown {
  if (isFreeForm(traitsOf(schema))) return patchFreeForm(stored, patch);
  const shape = shapeOf(schema);
  if (shape && isObject(patch)) return patchFields(shape, stored, patch);
  const entryShape = shapeOf(memberOf(schema) ?? schema);
  const isLabelled = entryShape && Object.hasOwn(entryShape, labelField);
  return isLabelled ? patchEntries(entryShape, stored, patch) : patch;
}

/** JSON Merge Patch (RFC 7396): there is no schema, so that null removes a member instead of being stored. */
function patchFreeForm(stored: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const own: Readonly<Record<string, unknown>> = isObject(stored) ? stored : {};
  const entries = Object.entries(patch);
  const patched = entries.map(([name, value]): [string, unknown] => [
    name,
    patchFreeForm(Object.hasOwn(own, name) ? own[name] : undefined, value),
  ]);
  // For 10,000 members, a copy takes half of the time of a map.
  const members: Record<string, unknown> = { ...own, ...Object.fromEntries(patched) };
  for (const [name, value] of entries) if (value === null) Reflect.deleteProperty(members, name);
  return members;
}

function patchEntries(shape: z.core.$ZodShape, stored: unknown, patch: unknown): unknown {
  const entries = new Map<unknown, unknown>(
    (Array.isArray(stored) ? (stored as Record<string, unknown>[]) : []).map((entry) => [entry[labelField], entry]),
  );
  const patched = (label: unknown, entry: unknown) =>
    isObject(entry) ? { ...patchFields(shape, entries.get(label), entry), [labelField]: label } : entry;
  if (Array.isArray(patch)) {
    return patch.map((entry: unknown) => (isObject(entry) ? patched(entry[labelField], entry) : entry));
  }
  if (!isObject(patch)) return patch;
  for (const [label, entry] of Object.entries(patch)) {
    if (entry === null) entries.delete(label);
    else entries.set(label, patched(label, entry));
  }
  return [...entries.values()];
}
