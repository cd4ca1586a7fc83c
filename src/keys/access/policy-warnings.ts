import type { Path } from '../../lib/errors.js';
import { maxIssues } from '../definition/field-rules.js';
import type { WarningCode } from '../definition/issue-codes.js';
import { normalizeDefinition, type Definition } from '../definition/normalize.js';
import type { KeyDefinition } from '../definition/schema.js';
import { warningsOf, type Warning } from '../definition/warnings.js';
import { accessSources } from './effective-access.js';
import { patternProblem, sizeToCheck } from './path-rules.js';
import { fieldsOfPart, policyParts, type LimitPart, type Policies, type Policy, type PolicyPart } from './policy.js';

/*
 * Warnings that need the known policies, or the engine for patterns.
 */

/** Instructions that patterns of one definition may have for their check: it takes about 20 ms. Further ones are not checked. */
const maxCheckedSize = 10_000;

/** Warnings about a policy. With several, as many of their patterns are checked as of one. */
export function policyWarnings(policy: Policy, checked: CheckedPatterns = { size: 0 }): Warning[] {
  return urlWarnings(policy.accessRights ?? [], checked);
}

/** Warnings about the policies of one request, with their indexes in the paths. Other requests are served between them. */
export async function warningsOfPolicies(
  policies: readonly Policy[],
  nextSlice: () => Promise<void> | undefined,
): Promise<Warning[]> {
  const warnings: Warning[] = [];
  const checked: CheckedPatterns = { size: 0 };
  for (const [index, policy] of policies.entries()) {
    await nextSlice();
    const found = policyWarnings(policy, checked);
    warnings.push(...found.map((warning) => ({ ...warning, path: ['policies', index, ...warning.path] })));
    if (warnings.length >= maxIssues) break;
  }
  return warnings.slice(0, maxIssues);
}

/** The instructions of the patterns that were checked. */
interface CheckedPatterns {
  size: number;
}

/**
 * All warnings about a valid definition, of a key of this organization, at the time `now`. No policy is unknown if none is
 * known.
 */
export function keyWarnings(
  input: KeyDefinition,
  { orgID, policies }: { readonly orgID: string | undefined; readonly policies: Policies },
  now: Date,
): Warning[] {
  const warnings = [...warningsOf(input, now), ...urlWarnings(input.accessRights ?? [])];
  if (policies.size === 0) return warnings;
  const { definition } = normalizeDefinition(input);
  const sources = accessSources({ definition, orgID }, policies);
  const named = definition.applyPolicies ?? [];
  for (const policyID of sources.unknownPolicies) {
    const message = 'is no known policy: decisions deny the key, and a gateway may ignore it';
    warnings.push({ path: ['applyPolicies', named.indexOf(policyID)], code: 'UNKNOWN_POLICY', message });
  }
  const governed = new Set(sources.policies.flatMap(({ governs }) => governs));
  for (const path of overriddenPaths(definition, governed)) {
    warnings.push({
      path,
      code: 'OVERRIDDEN_BY_POLICIES',
      message: 'has no effect, because a policy of the key governs it',
    });
  }
  return warnings;
}

function overriddenPaths(definition: Definition, governed: ReadonlySet<PolicyPart>): Path[] {
  const paths: Path[] = [];
  for (const part of Object.keys(policyParts) as PolicyPart[]) {
    if (!governed.has(part)) continue;
    const fields = part === 'ACCESS_RIGHTS' ? (['accessRights'] as const) : fieldsOfPart[part satisfies LimitPart];
    for (const field of fields) {
      const value = definition[field];
      const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
      if (!isEmpty) paths.push([field]);
    }
  }
  return paths;
}

/** The part of access rights that is checked, as it is sent or in its normal form. */
type Rights = readonly {
  readonly allowedUrls?:
    | readonly { readonly url?: string | null | undefined; readonly methods?: readonly string[] | null | undefined }[]
    | null
    | undefined;
}[];

function urlWarnings(rights: Rights, checked: CheckedPatterns = { size: 0 }): Warning[] {
  const warnings: Warning[] = [];
  const code: WarningCode = 'URL_ALLOWS_NOTHING';
  for (const [index, { allowedUrls }] of rights.entries()) {
    for (const [position, { url, methods }] of (allowedUrls ?? []).entries()) {
      const path: Path = ['accessRights', index, 'allowedUrls', position];
      if (!methods || methods.length === 0)
        warnings.push({
          path: [...path, 'methods'],
          code,
          message: 'is absent or empty, so that the entry allows nothing',
        });
      if (url === undefined || url === null) continue;
      checked.size += sizeToCheck(url);
      const problem = checked.size > maxCheckedSize ? undefined : patternProblem(url);
      if (problem) warnings.push({ path: [...path, 'url'], code, message: messages[problem] });
    }
  }
  return warnings;
}

const messages = {
  MALFORMED: 'is not a regular expression of RE2, so that the entry allows nothing in decisions of Keyfront',
  TOO_LARGE: 'is too large a regular expression, so that the entry allows nothing in decisions of Keyfront',
};
