import type * as z from 'zod';
import { fieldsOnlyIn, KeyDefinition, type Variant } from './schema.js';
import type { Issue } from '../../lib/errors.js';
import { freeFormObject } from './field-types.js';
import { withoutExcess, invalidDefinition, issuesOf } from './issues.js';
import { hasMoreValues, maxValues } from '../../lib/value-count.js';
import { fastValidatorOf, INVALID, type FastValidator } from './fast-validator.js';
import { rules, satisfiesRules } from './rules.js';

type Fields = z.core.util.Mask<keyof typeof KeyDefinition.shape>;

function fieldsWithout(variant: Variant) {
  const others: Fields = Object.fromEntries([...fieldsOnlyIn(variant)].map((field) => [field, true as const]));
  return KeyDefinition.omit(others);
}

/** The input of an update: without the fields of previews, and with an object as metadata. */
const updateFields = fieldsWithout('preview').safeExtend({
  metaData: freeFormObject(
    'Your own data about the key, as a JSON object. It is returned by reads: do not store secrets in it.',
  ),
});

/** The input of a preview: without the fields of updates. */
const previewFields = fieldsWithout('update');

/** The definition of a preview. */
export const PreviewInput: z.ZodType<KeyDefinition> = previewFields.check(rules);
/** The definition of an update. */
export const UpdateInput: z.ZodType<KeyDefinition> = updateFields.check(rules);

/** What a client may send: a definition of a variant, or a patch of one, to which the rules across fields do not apply. */
export type InputKind = Variant | 'patch';

/** The schema of each input. */
export const inputs: Record<InputKind, z.ZodType<KeyDefinition>> = {
  preview: PreviewInput,
  update: UpdateInput,
  patch: updateFields,
};

/** Return the parsed definition, or INVALID if zod rejects it. */
export const fastValidators: Record<InputKind, FastValidator> = {
  preview: withRules(fastValidatorOf(previewFields)),
  update: withRules(fastValidatorOf(updateFields)),
  patch: fastValidatorOf(updateFields),
};

/** zod cannot compile the rules across fields, because they also run if single fields have issues. */
function withRules(validate: FastValidator): FastValidator {
  return (raw) => {
    const value = validate(raw);
    return value !== INVALID && satisfiesRules(value as KeyDefinition) ? value : INVALID;
  };
}

/** Returns a standard schema (https://standardschema.dev) that uses the fast validator first. */
export function standardSchema(kind: InputKind) {
  const { validate, ...standard } = inputs[kind]['~standard'];
  const validateFast = (raw: unknown) => {
    const value = fastValidators[kind](raw);
    return value === INVALID ? validate(withoutExcess(inputs[kind], raw)) : { value: value as KeyDefinition };
  };
  return { '~standard': { ...standard, validate: validateFast } };
}

/**
 * Parses a definition. Field names and paths are those of the domain.
 *
 * @throws {AppError} INVALID with the issues of the definition.
 */
export function parseDefinition(variant: Variant, raw: unknown): KeyDefinition {
  const result = validateDefinition(variant, withoutForeignNulls(variant, raw));
  if (Array.isArray(result)) throw invalidDefinition(result);
  return result;
}

/** Returns the issues of a definition, at most `maxIssues` + 1; none for a valid one. */
export function definitionIssues(kind: InputKind, raw: unknown): readonly Issue[] {
  const result = validateDefinition(kind, raw);
  return Array.isArray(result) ? result : [];
}

/** Null means absent, also for a field that only the other variant has. */
function withoutForeignNulls(variant: Variant, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const absent = foreignFields[variant].filter(
    (field) => Object.hasOwn(raw, field) && Reflect.get(raw, field) === null,
  );
  if (absent.length === 0) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([field]) => !absent.includes(field)));
}

const tooManyValues: Issue = {
  path: [],
  code: 'TOO_MANY',
  message: `must have at most ${maxValues.toLocaleString('en')} members and items in all`,
};

const foreignFields: Record<Variant, readonly string[]> = {
  preview: [...fieldsOnlyIn('update')],
  update: [...fieldsOnlyIn('preview')],
};

function validateDefinition(kind: InputKind, raw: unknown): KeyDefinition | Issue[] {
  // A patched definition has the values of the stored one and of the patch, and each can be as large as a body.
  if (hasMoreValues(raw)) return [tooManyValues];
  const valid = fastValidators[kind](raw);
  if (valid !== INVALID) return valid as KeyDefinition;
  const result = inputs[kind].safeParse(withoutExcess(inputs[kind], raw));
  return result.success ? result.data : issuesOf(result.error.issues, kind === 'preview' ? 'preview' : 'update');
}
