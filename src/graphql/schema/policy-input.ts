import { parsePolicy, PolicyDefinition } from '../../keys/access/policy-definition.js';
import type { Policy } from '../../keys/access/policy.js';
import { maxIssues } from '../../keys/definition/field-rules.js';
import { AppError, type Issue, type Path } from '../../lib/errors.js';
import { inputTypeFromZod } from './types-from-zod.js';

export const KeyPolicyInput = inputTypeFromZod<object>(
  'KeyPolicyInput',
  PolicyDefinition,
  'A policy. Null is the same as omitted.',
);

/** @throws {AppError} INVALID with the issues of the policy, below the path of the argument. */
export function parsePolicyArgument(path: Path, policy: object): Policy {
  try {
    return parsePolicy(policy);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
    throw new AppError(error.code, error.message, { issues, cause: error });
  }
}

/** Parses several policies; other requests are served between them. @throws {AppError} INVALID with the issues of all. */
export async function parsePolicies(
  policies: readonly object[],
  nextSlice: () => Promise<void> | undefined,
): Promise<Policy[]> {
  const parsed = new Map<string, Policy>();
  const issues: Issue[] = [];
  for (const [index, body] of policies.entries()) {
    await nextSlice();
    try {
      const policy = parsePolicyArgument(['policies', index], body);
      if (parsed.has(policy.policyID)) {
        const path = ['policies', index, 'policyID'];
        issues.push({ path, code: 'MALFORMED_ARGUMENT', message: 'must not be that of an earlier policy' });
      }
      parsed.set(policy.policyID, policy);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      issues.push(...error.issues);
    }
    if (issues.length >= maxIssues) break;
  }
  if (issues.length > 0)
    throw new AppError('INVALID', 'The policies are not valid. Nothing was changed.', {
      issues: issues.slice(0, maxIssues),
    });
  return [...parsed.values()];
}
