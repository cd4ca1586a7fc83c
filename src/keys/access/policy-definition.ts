import * as z from 'zod';
import { AppError } from '../../lib/errors.js';
import { hasMoreValues, maxValues } from '../../lib/value-count.js';
import { rule } from '../definition/field-rules.js';
import { fieldTraits, flag, label, text } from '../definition/field-types.js';
import { createJSONReader } from '../definition/from-json.js';
import { issuesOf, withoutExcess } from '../definition/issues.js';
import { maxIssues } from '../definition/field-rules.js';
import { normalizeDefinition } from '../definition/normalize.js';
import { rules } from '../definition/rules.js';
import { KeyDefinition } from '../definition/schema.js';
import { allPolicyParts, type Policy, type PolicyPart } from './policy.js';

const { shape } = KeyDefinition;

/** The parts as files name them: `rate_limit`. */
export const partNames: ReadonlyMap<string, PolicyPart> = new Map(
  allPolicyParts.map((part) => [part.toLowerCase(), part]),
);

const partName = rule<string>((value) =>
  partNames.has(value.toLowerCase())
    ? undefined
    : ['MALFORMED_ARGUMENT', `must be one of ${[...partNames.keys()].join(', ')}`],
);

const part = z.string().check(partName);
fieldTraits.add(part, { scalar: 'KeyPolicyPart' });

const trimmed = rule<string>((value) =>
  value === value.trim() ? undefined : ['MALFORMED_TEXT', 'must not begin or end with white space'],
);

/** A policy as files have it. The fields of limits and access rights are those of a key. */
export const PolicyDefinition = z
  .strictObject({
    policyID: label('Identifier that keys name in `applyPolicies`. Example: gold.').check(trimmed),
    name: text('Display name. Example: Gold.'),
    orgID: shape.orgID,
    isInactive: flag('Whether every key that names the policy is switched off.'),
    governs: z.array(part).max(20).nullish().describe('The parts of a key that the policy governs. If absent, all.'),
    rate: shape.rate,
    per: shape.per,
    smoothing: shape.smoothing,
    throttleInterval: shape.throttleInterval,
    throttleRetryLimit: shape.throttleRetryLimit,
    quotaMax: shape.quotaMax,
    quotaRenewalRate: shape.quotaRenewalRate,
    maxQueryDepth: shape.maxQueryDepth,
    accessRights: shape.accessRights,
  })
  .check(rules);

/**
 * Parses a policy. Names and paths are those of the domain.
 *
 * @throws {AppError} INVALID with the issues of the policy.
 */
export function parsePolicy(raw: unknown): Policy {
  if (hasMoreValues(raw)) {
    const message = `must have at most ${maxValues.toLocaleString('en')} members and items in all`;
    throw new AppError('INVALID', 'The policy is too large.', { issues: [{ path: [], code: 'TOO_MANY', message }] });
  }
  const result = PolicyDefinition.safeParse(withoutExcess(PolicyDefinition, raw));
  if (!result.success) {
    const issues = issuesOf(result.error.issues, undefined, PolicyDefinition).slice(0, maxIssues);
    throw new AppError('INVALID', 'The policy is not valid.', { issues });
  }
  const { policyID, name, orgID, isInactive, governs, ...limits } = result.data;
  const named = governs?.flatMap((part) => partNames.get(part.toLowerCase()) ?? []);
  return {
    policyID,
    ...(name && { name }),
    ...(orgID && { orgID }),
    ...(isInactive === true && { isInactive }),
    governs: allPolicyParts.filter((part) => !named || named.includes(part)),
    ...withoutAbsent(normalizeDefinition(limits).definition),
  };
}

/** Reads a policy from its JSON, as it is stored or as GraphQL returns it. Rules are not checked again. */
export const policyFromJSON = createJSONReader(PolicyDefinition) as (json: unknown) => Policy;

/** The normal form has a member for each field of a key. */
function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
