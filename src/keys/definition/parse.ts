import type { z } from 'zod';
import { fieldsOnlyIn, KeyDefinition, type Variant } from './schema.js';
import type { Issue } from '../../lib/errors.js';
import { freeFormObject } from './field-types.js';
import { withoutExcess, invalidDefinition, issuesOf } from './issues.js';
import { hasMoreValues, maxValues } from '../../lib/value-count.js';
import { fastValidatorOf, INVALID, type FastValidator } from './fast-validator.js';
import { rules, satisfiesRules } from './rules.js';

type Fields = z.core.util.Mask<keyof typeof KeyDefinition.shape>;

function allBut(variant: Variant) {
  const others: Fields = Object.fromEntries([...fieldsOnlyIn(variant)].map((field) => [field, true as const]));
  return KeyDefinition.omit(others);
}

/** The input of an update: a definition without the fields that only a preview has, and metadata that is an object. */
const updateFields = allBut('preview').safeExtend({
  metaData: freeFormObject('Anything you want to keep with the key, and nothing secret: reads show it. An object.'),
});

/** The input of a preview: a definition without the fields that only an update has. */
const previewFields = allBut('update');

export const PreviewInput: z.ZodType<KeyDefinition> = previewFields.check(rules);
export const UpdateInput: z.ZodType<KeyDefinition> = updateFields.check(rules);

export const inputs: Record<Variant, z.ZodType<KeyDefinition>> = { preview: PreviewInput, update: UpdateInput };

/** The parsed definition, or INVALID if zod rejects it. */
export const fastValidators: Record<Variant, FastValidator> = {
  preview: fastValidator(previewFields),
  update: fastValidator(updateFields),
};

/** zod cannot compile the rules across fields, since they run beside the issues of single fields. */
function fastValidator(fields: z.ZodType<KeyDefinition>): FastValidator {
  const validate = fastValidatorOf(fields);
  return (raw) => {
    const value = validate(raw);
    return value !== INVALID && satisfiesRules(value as KeyDefinition) ? value : INVALID;
  };
}

/** What a face that validates by standard schemas takes: the definition, or all that zod finds wrong with it. */
export function standardSchema(variant: Variant) {
  const { validate, ...standard } = inputs[variant]['~standard'];
  const quickly = (raw: unknown) => {
    const value = fastValidators[variant](raw);
    return value === INVALID ? validate(withoutExcess(inputs[variant], raw)) : { value: value as KeyDefinition };
  };
  return { '~standard': { ...standard, validate: quickly } };
}

/**
 * Reads a definition in the domain's names.
 * @throws {AppError} INVALID with the problems it has, paths in the domain's names
 */
export function readDefinition(variant: Variant, raw: unknown): KeyDefinition {
  const result = parseDefinition(variant, withoutNullsOfOther(variant, raw));
  if (Array.isArray(result)) throw invalidDefinition(result);
  return result;
}

/** The problems of a definition, at most one more than are listed; none for a valid one. */
export function problemsOf(variant: Variant, raw: unknown): readonly Issue[] {
  const result = parseDefinition(variant, raw);
  return Array.isArray(result) ? result : [];
}

/** Null means absent, also for a field that only the other variant has. */
function withoutNullsOfOther(variant: Variant, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const absent = othersOf[variant].filter((field) => Object.hasOwn(raw, field) && Reflect.get(raw, field) === null);
  if (absent.length === 0) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([field]) => !absent.includes(field)));
}

const tooManyValues: Issue = {
  path: [],
  code: 'TOO_MANY',
  message: `must have at most ${maxValues.toLocaleString('en')} members and items in all`,
};

const othersOf: Record<Variant, readonly string[]> = {
  preview: [...fieldsOnlyIn('update')],
  update: [...fieldsOnlyIn('preview')],
};

function parseDefinition(variant: Variant, raw: unknown): KeyDefinition | Issue[] {
  // A bulk change merges a stored definition with a patch, each of which may be as large as a body.
  if (hasMoreValues(raw)) return [tooManyValues];
  const valid = fastValidators[variant](raw);
  if (valid !== INVALID) return valid as KeyDefinition;
  const result = inputs[variant].safeParse(withoutExcess(inputs[variant], raw));
  return result.success ? result.data : issuesOf(result.error.issues, variant);
}
