import type { z } from 'zod';
import { fieldsOnlyIn, KeyDefinition, type Variant } from './definition.js';
import { freeFormObject } from './fields.js';
import { invalidDefinition, issuesOf } from './issues.js';
import { quickReadOf, refused, type QuickRead } from './quick-read.js';
import { rules } from './rules.js';

type Fields = z.core.util.Mask<keyof typeof KeyDefinition.shape>;

function allBut(variant: Variant) {
  const others: Fields = Object.fromEntries([...fieldsOnlyIn(variant)].map((field) => [field, true as const]));
  return KeyDefinition.omit(others);
}

/** What a preview takes: a definition without the fields that only an update has. */
export const PreviewInput: z.ZodType<KeyDefinition> = allBut('update').check(rules);

/** What an update takes: a definition without the fields that only a preview has, and metadata that is an object. */
export const UpdateInput: z.ZodType<KeyDefinition> = allBut('preview')
  .safeExtend({
    metaData: freeFormObject('Anything you want to keep with the key, and nothing secret: reads show it. An object.'),
  })
  .check(rules);

export const inputs: Record<Variant, z.ZodType<KeyDefinition>> = { preview: PreviewInput, update: UpdateInput };

const quickReads: Record<Variant, QuickRead> = {
  preview: quickReadOf(PreviewInput),
  update: quickReadOf(UpdateInput),
};

/** What a face that validates by standard schemas takes: the definition, or all that zod finds wrong with it. */
export function standardInput(variant: Variant) {
  const { validate, ...standard } = inputs[variant]['~standard'];
  const quickly = (raw: unknown) => {
    const value = quickReads[variant](raw);
    return value === refused ? validate(raw) : { value: value as KeyDefinition };
  };
  return { '~standard': { ...standard, validate: quickly } };
}

/** Reads a definition in the domain's names. Throws INVALID with every problem it has, paths in the domain's names. */
export function readDefinition(variant: Variant, raw: unknown): KeyDefinition {
  const quick = quickReads[variant](raw);
  if (quick !== refused) return quick as KeyDefinition;
  const result = inputs[variant].safeParse(raw);
  if (result.success) return result.data;
  throw invalidDefinition(issuesOf(result.error.issues, variant));
}
