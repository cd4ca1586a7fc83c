import {
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  validate,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import type { NextStage } from '../../lib/scheduler.js';
import { exactFloats } from '../schema/literals.js';
import { fieldSelectionMerging } from './field-merging.js';

const valueRules = [ValuesOfCorrectTypeRule, exactFloats];
const otherRules = [
  ...specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule && rule !== ValuesOfCorrectTypeRule),
  fieldSelectionMerging,
];

/** One error may quote an input object of 3,000 members, which takes 2 ms. */
const maxErrors = 3;

/** Returns the first errors of a document; none for a valid one. */
export function validateDocument(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  return validate(schema, document, [...otherRules, ...valueRules], { maxErrors });
}

/** A walk through 9,000 selections with this many rules takes up to 30 ms, the first time. */
const rulesOfStage = 6;
const stages = [
  ...Array.from({ length: Math.ceil(otherRules.length / rulesOfStage) }, (_, n) =>
    otherRules.slice(n * rulesOfStage, (n + 1) * rulesOfStage),
  ),
  valueRules,
];

/**
 * As `validateDocument`, in stages after that of parsing. The rules of values are the last: an error of a value quotes it,
 * which takes long for a large object.
 */
export async function validateLargeDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  nextStage: NextStage,
): Promise<readonly GraphQLError[]> {
  for (const rules of stages) {
    await nextStage();
    const errors = validate(schema, document, rules, { maxErrors });
    if (errors.length > 0) return errors;
  }
  return [];
}
