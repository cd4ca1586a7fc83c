import type { Issue } from '../../lib/errors.js';
import type { Warning } from '../definition/warnings.js';
import type { Actor, FieldChange } from '../key.js';

/** The kinds of changes that can be proposed, each with the mutation that makes it. */
export const changeKinds = {
  UPDATE: 'The definition is replaced, as by `updateOrgKey`.',
  PATCH: 'Some fields of the definition change, as by `patchOrgKey`.',
  REVERT: 'The definition of an earlier version is restored, as by `revertOrgKey`.',
  ROTATE: 'The key gets another identifier, as by `rotateOrgKey`.',
  CANCEL_ROTATION: 'The key gets its previous identifier back, as by `cancelKeyRotation`.',
  DELETE: 'The key is deleted, as by `deleteOrgKey`.',
  RESTORE: 'The deleted key is restored, as by `restoreOrgKey`.',
  CREATE: 'A key is created, as by `createOrgKey`.',
} as const;

/** One of {@link changeKinds}. */
export type ChangeKind = keyof typeof changeKinds;

/** The states of a proposal. */
export const proposalStates = {
  OPEN: 'It waits for an approval.',
  SCHEDULED: 'It was approved, or needs no approval, and waits for its time.',
  APPLIED: 'The change was made.',
  STALE:
    'The key had another version, the change was not possible any more, or the credential of its proposer was revoked or expired. Nothing was changed.',
  REJECTED: 'Somebody who may approve it has rejected it.',
  WITHDRAWN: 'Its proposer has withdrawn it.',
  EXPIRED: 'Nobody has approved it in time.',
} as const;

/** One of {@link proposalStates}. */
export type ProposalState = keyof typeof proposalStates;

/** The states in which a proposal has not ended. */
export const unendedStates: readonly ProposalState[] = ['OPEN', 'SCHEDULED'];

/** The ends of a proposal. */
export type ProposalEnd = Exclude<ProposalState, 'OPEN' | 'SCHEDULED'>;

/** What was done with a proposal: it was approved, or it ended. A proposal has at most one of each. */
export interface ProposalStep {
  readonly proposalID: string;
  readonly kind: 'APPROVED' | ProposalEnd;
  readonly at: Date;
  /** Undefined if the service did it. */
  readonly by: Actor | undefined;
  readonly reason: string | undefined;
  /** Why a proposal became stale. The issues name the fields that have changed since. */
  readonly problem?: { readonly message: string; readonly issues: readonly Issue[] } | undefined;
}

/** A change that is stored to be made later. Its request is sealed beside it. */
export interface Proposal {
  /** 32 random hex digits after `prop_`. */
  readonly id: string;
  readonly orgID: string;
  readonly keyHash: string;
  /** The identity of the key; undefined for a creation. */
  readonly identity: string | undefined;
  readonly kind: ChangeKind;
  /** The version of the key that the change is for; 0 for a creation. */
  readonly expectedVersion: number;
  /** What the dry run has found. */
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly Warning[];
  readonly resetsQuota: boolean;
  readonly reason: string | undefined;
  readonly proposedBy: Actor;
  readonly proposedAt: Date;
  /** Undefined to apply it when it is approved. */
  readonly applyAt: Date | undefined;
  /** Whether another person must approve it. */
  readonly needsApproval: boolean;
  /** Until when it must be approved; undefined if it needs no approval. */
  readonly expiresAt: Date | undefined;
}

/** A proposal with what was done with it. */
export interface KnownProposal extends Proposal {
  readonly approval: ProposalStep | undefined;
  readonly end: ProposalStep | undefined;
}

/** Returns the state of a proposal. */
export function stateOfProposal({ needsApproval, approval, end }: KnownProposal): ProposalState {
  if (end && end.kind !== 'APPROVED') return end.kind;
  return needsApproval && !approval ? 'OPEN' : 'SCHEDULED';
}

/**
 * Whether two actors can be one person: they have a credential, a label or an asserted name in common. Asserted names are
 * not verified, so that they never make two persons out of one credential.
 */
export function mayBeSamePerson(a: Actor, b: Actor): boolean {
  const names = namesOf(a);
  return namesOf(b).some((name) => names.includes(name));
}

function namesOf({ credentialID, label, assertedName }: Actor): string[] {
  const names = [credentialID, label, assertedName ?? ''].map((name) => name.normalize('NFKC').trim().toLowerCase());
  return names.filter((name) => name !== '');
}
