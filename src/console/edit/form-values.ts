import { parseJSON } from '../../client/json.js';
import type { FormField } from '../form-field.js';

/** A definition, or an object in it, while it is edited. An absent field is not set; null clears a secret. */
export type FormValues = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields. */
export function isFormValues(value: unknown): value is FormValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the values with one of them replaced, or removed if it is undefined. */
export function withValue(values: FormValues, name: string, value: unknown): FormValues {
  const { [name]: _, ...others } = values;
  return value === undefined ? others : { ...values, [name]: value };
}

/** Whether two values of a definition are equal. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const isFreeForm = ({ type }: FormField) => type === 'JSON' || type === 'JSONObject';

/** The text of a value in its field of the form. */
export function toText(field: FormField, value: unknown): string {
  if (value == null) return '';
  if (Array.isArray(value) && field.isList) return value.join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/**
 * Parses the text of a field. A text that does not match the type of the field stays a text, which the service rejects
 * with the path of the field.
 */
export function fromText(field: FormField, text: string): unknown {
  if (text.trim() === '') return undefined;
  if (field.isList) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => scalarOf(field, line));
  }
  return isFreeForm(field) ? (parseExactly(text) ?? text) : scalarOf(field, text);
}

function scalarOf({ type }: FormField, text: string): unknown {
  return ['Int', 'Int64', 'Float'].includes(type) ? numberOf(text) : text;
}

/** Parses a number, with or without commas between its thousands. Returns the text if it is not an exact number. */
export function numberOf(text: string): unknown {
  const trimmed = text.trim().replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, '');
  const number = Number(trimmed);
  const isExact = /^-?\d+(\.\d+)?$/.test(trimmed) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : trimmed;
}

/** A field that the user and another client have changed to different values. */
export interface FieldConflict {
  readonly name: string;
  readonly base: unknown;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** The result of a merge, with the fields that only the other client has changed and those that both have changed. */
export interface Merge {
  readonly merged: FormValues;
  readonly taken: readonly string[];
  readonly conflicts: readonly FieldConflict[];
}

/** Merges the changes of another client into the edited values, field by field. A conflicting field keeps `mine`. */
export function mergeFields(base: FormValues, mine: FormValues, theirs: FormValues): Merge {
  const names = [...new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)])];
  const theirChanges = names.filter((name) => !isSame(theirs[name], base[name]) && !isSame(theirs[name], mine[name]));
  const taken = theirChanges.filter((name) => isSame(mine[name], base[name]));
  const conflicting = theirChanges.filter((name) => !taken.includes(name));
  return {
    merged: taken.reduce((values, name) => withValue(values, name, theirs[name]), mine),
    taken,
    conflicts: conflicting.map((name) => ({ name, base: base[name], mine: mine[name], theirs: theirs[name] })),
  };
}

/** Parses JSON. Integers that a number cannot represent become strings. Returns undefined for invalid JSON. */
export function parseExactly(json: string): unknown {
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  try {
    return parseJSON(json.replace(tokens, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)));
  } catch {
    return undefined;
  }
}
