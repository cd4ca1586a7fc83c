import { definitionChanges } from '../key-diff.js';
import type { Actor, FieldChange } from '../key.js';
import type { KnownPolicy, PolicyVersion } from './policy-store.js';
import type { Policy } from './policy.js';

/** How a policy changes. */
export const policyChangeKinds = {
  ADDED: 'The policy did not exist, or was removed before.',
  CHANGED: 'The policy has other values.',
  REMOVED: 'The policy was removed: keys that name it are denied.',
} as const;

/** One of {@link policyChangeKinds}. */
export type PolicyChangeKind = keyof typeof policyChangeKinds;

/** The change of one policy. */
export interface PolicyDifference {
  readonly policyID: string;
  readonly kind: PolicyChangeKind;
  /** Undefined if the policy is removed. */
  readonly after: Policy | undefined;
  /** The values that differ; none for a removal. */
  readonly changes: readonly FieldChange[];
}

/** One change in the history of a policy. */
export interface PolicyHistoryEntry extends Pick<PolicyDifference, 'kind' | 'changes'> {
  readonly version: number;
  readonly at: Date;
  readonly actor: Actor;
}

/**
 * The differences between the known policies and those of a file; with `prune`, also those that the file does not have. Other
 * requests are served between the policies.
 */
export async function policyDifferences(
  known: ReadonlyMap<string, Policy>,
  policies: readonly Policy[],
  { prune, nextSlice }: { readonly prune: boolean; readonly nextSlice: () => Promise<void> | undefined },
): Promise<PolicyDifference[]> {
  const differences: PolicyDifference[] = [];
  for (const after of policies) {
    await nextSlice();
    const { policyID } = after;
    const before = known.get(policyID);
    const changes = policyChanges(before, after);
    if (changes.length > 0 || !before)
      differences.push({ policyID, kind: before ? 'CHANGED' : 'ADDED', after, changes });
  }
  const named = new Set(policies.map(({ policyID }) => policyID));
  const others = prune ? [...known.keys()].filter((policyID) => !named.has(policyID)) : [];
  return [
    ...differences,
    ...others.map((policyID): PolicyDifference => ({ policyID, kind: 'REMOVED', after: undefined, changes: [] })),
  ];
}

/** The entry of a version in the history, after the version before it. */
export function policyHistoryEntry(before: PolicyVersion | undefined, version: PolicyVersion): PolicyHistoryEntry {
  const { at, actor, policy } = version;
  const changes = policy ? policyChanges(before?.policy, policy) : [];
  const kind = policy ? (before?.policy ? 'CHANGED' : 'ADDED') : 'REMOVED';
  return { version: version.version, at, actor, kind, changes };
}

function policyChanges(before: Policy | undefined, after: Policy): FieldChange[] {
  return definitionChanges(before ? comparable(before) : {}, comparable(after));
}

/** A policy as a file states it, without its identifier and its version. */
function comparable({
  policyID: _id,
  version: _version,
  changedAt: _at,
  changedBy: _by,
  governs,
  ...values
}: Policy & Partial<KnownPolicy>) {
  return { governs: governs.map((part) => part.toLowerCase()), ...values };
}
