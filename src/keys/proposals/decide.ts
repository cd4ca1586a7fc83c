import { AppError, errorCodeOf } from '../../lib/errors.js';
import { actorOf } from '../actor.js';
import { requireScope } from '../authorization.js';
import type { Actor, Scope, StoredKey } from '../key.js';
import type { NoticeKind } from '../notices.js';
import type { CallContext, Ports } from '../ports.js';
import {
  mayBeSamePerson,
  stateOfProposal,
  type KnownProposal,
  type ProposalEnd,
  type ProposalStep,
} from './proposal.js';
import { noticeOfProposal } from './propose.js';
import { runChange, withoutSecrets } from './proposed-change.js';

/** A decision about a proposal. */
export interface DecisionRequest {
  readonly id: string;
  readonly reason?: string | undefined;
}

/**
 * Approves a proposal of another person. Its change is made at once, in the same transaction, or at its time. If the change
 * is not possible any more, or its proposer is not trusted any more, the proposal is stale afterwards.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such proposal; FORBIDDEN without the scopes `read` and `approve`, or when the
 * caller may be its proposer; CONFLICT when it has ended, was approved before, or needs no approval; UNAVAILABLE when storage
 * is busy or the time of the caller is up.
 */
export async function approveProposal(
  ports: Ports,
  caller: CallContext,
  { id, reason }: DecisionRequest,
): Promise<KnownProposal> {
  requireScopes(caller, 'approve');
  const proposal = await requireUnended(ports, caller, id);
  if (stateOfProposal(proposal) !== 'OPEN') {
    throw new AppError('CONFLICT', 'The proposal waits for its time, and for no approval.');
  }
  const by = actorOf(caller);
  if (isOwnProposal(caller, proposal)) {
    throw new AppError('FORBIDDEN', 'Another person must approve the proposal: you share a name with its proposer.');
  }
  const at = ports.now();
  const approval: ProposalStep = { proposalID: id, kind: 'APPROVED', at, by, reason };
  const { applyAt } = proposal;
  // Without trust in the proposer, it ends now and not at its time.
  if (applyAt && !(await ports.whyNotTrusted(proposal.proposedBy.credentialID))) {
    const notice = noticeOfProposal(proposal, 'proposal_approved', at);
    caller.deadline?.markCommitting();
    if (!(await ports.proposals.record({ step: approval, due: applyAt, notice }))) throw await meanwhile(ports, id);
    return requireFound(ports, id);
  }
  const done = await applyProposal(ports, proposal, approval, caller);
  const decidedBy = done.end?.kind === 'STALE' ? done.end.by : done.approval?.by;
  // Another decision came first.
  if (decidedBy?.credentialID !== by.credentialID) throw hasEnded(done);
  return done;
}

/** Whether the caller may be the proposer, so that another person must approve the proposal. */
export function isOwnProposal(caller: Actor, { proposedBy }: Pick<KnownProposal, 'proposedBy'>): boolean {
  return mayBeSamePerson(caller, proposedBy);
}

/**
 * Rejects a proposal.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such proposal; FORBIDDEN without the scopes `read` and `approve`; CONFLICT when it
 * has ended.
 */
export async function rejectProposal(
  ports: Ports,
  caller: CallContext,
  { id, reason }: DecisionRequest,
): Promise<KnownProposal> {
  requireScopes(caller, 'approve');
  const proposal = await requireUnended(ports, caller, id);
  return endByCaller(ports, caller, proposal, 'REJECTED', reason);
}

/**
 * Withdraws a proposal of the caller.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such proposal; FORBIDDEN when another credential has proposed it;
 * CONFLICT when it has ended.
 */
export async function withdrawProposal(
  ports: Ports,
  caller: CallContext,
  { id, reason }: DecisionRequest,
): Promise<KnownProposal> {
  requireScopes(caller, 'propose');
  const proposal = await requireUnended(ports, caller, id);
  if (proposal.proposedBy.credentialID !== caller.credentialID) {
    throw new AppError('FORBIDDEN', 'Only the credential that has proposed the change can withdraw it.');
  }
  return endByCaller(ports, caller, proposal, 'WITHDRAWN', reason);
}

async function endByCaller(
  ports: Ports,
  caller: CallContext,
  proposal: KnownProposal,
  kind: 'REJECTED' | 'WITHDRAWN',
  reason: string | undefined,
): Promise<KnownProposal> {
  caller.deadline?.markCommitting();
  const isEnded = await end(ports, proposal, kind, { by: actorOf(caller), reason });
  if (!isEnded) throw await meanwhile(ports, proposal.id);
  return requireFound(ports, proposal.id);
}

const noticesOfEnds: Readonly<Partial<Record<ProposalEnd, NoticeKind>>> = {
  STALE: 'proposal_stale',
  REJECTED: 'proposal_rejected',
  WITHDRAWN: 'proposal_withdrawn',
  EXPIRED: 'proposal_expired',
};

/** Ends a proposal without a change of its key. Returns false if it has ended before. */
async function end(
  ports: Ports,
  proposal: KnownProposal,
  kind: ProposalEnd,
  { by, reason, problem }: Partial<Pick<ProposalStep, 'by' | 'reason' | 'problem'>> = {},
): Promise<boolean> {
  const at = ports.now();
  const kindOfNotice = noticesOfEnds[kind];
  return ports.proposals.record({
    step: { proposalID: proposal.id, kind, at, by, reason, problem },
    sealed: kind === 'STALE' ? await sealedWithoutSecrets(ports, proposal) : undefined,
    notice: kindOfNotice && noticeOfProposal(proposal, kindOfNotice, at),
  });
}

/** What is kept of the request of a stale proposal, for its new preview. */
async function sealedWithoutSecrets(ports: Ports, { id }: KnownProposal): Promise<Uint8Array | undefined> {
  const sealed = await ports.proposals.sealedOf(id);
  if (!sealed) return undefined;
  const kept = withoutSecrets(ports.proposalRequests.open(sealed, id), ports.randomHex());
  return kept && ports.proposalRequests.seal(kept, id);
}

/** Errors that another attempt cannot mend. */
const isFinal = (error: unknown) => ['INVALID', 'CONFLICT', 'NOT_FOUND', 'FORBIDDEN'].includes(errorCodeOf(error));

/**
 * Makes the change of a proposal, as its proposer, and ends the proposal in the same transaction; or ends it as stale. If
 * another process has ended it meanwhile, nothing is written.
 *
 * @param approval - of now; undefined if it was approved before, or needs no approval
 * @returns the proposal as it is afterwards
 * @throws {AppError} UNAVAILABLE or INTERNAL when the change can be tried again.
 */
async function applyProposal(
  ports: Ports,
  proposal: KnownProposal,
  approval: ProposalStep | undefined,
  { requestID, deadline }: Pick<CallContext, 'requestID' | 'deadline'>,
): Promise<KnownProposal> {
  const { id, orgID, keyHash, identity, kind, expectedVersion, reason, proposedBy } = proposal;
  const approvedBy = (approval ?? proposal.approval)?.by;
  // The rows are signed: whoever comes here without one has made a mistake.
  if (proposal.needsApproval && !approvedBy) throw new Error(`The proposal ${id} was not approved.`);
  try {
    await requireTrust(ports, proposedBy);
    const sealed = await ports.proposals.sealedOf(id);
    if (!sealed) throw new AppError('INTERNAL', `The request of the proposal ${id} is missing.`);
    const request = ports.proposalRequests.open(sealed, id);
    const result = await runChange(
      withSteps(),
      { ...proposedBy, orgID, requestID, ...(deadline && { deadline }) },
      keyHash,
      request,
      { expectedVersion: kind === 'CREATE' ? undefined : expectedVersion, reason },
    );
    // Somebody has made the same change without another version: there is nothing to write it with.
    if (!result.isChanged) await recordUnchanged(ports, proposal, approval);
  } catch (error) {
    const found = await requireFound(ports, id);
    if (found.end) return found;
    if (!isFinal(error)) throw error;
    const { message, issues } = error instanceof AppError ? error : { message: '', issues: [] };
    await end(ports, proposal, 'STALE', { problem: { message, issues }, by: approval?.by });
  }
  return requireFound(ports, id);

  /** A key that is purged and created again is another one. */
  function withSteps(): Ports {
    const isOfProposal = (stored: StoredKey | undefined) => identity === undefined || stored?.identity === identity;
    return {
      ...ports,
      store: {
        ...ports.store,
        update: (hash, change, ofOrg) =>
          ports.store.update(
            hash,
            (stored) => {
              const transition = change(isOfProposal(stored) ? stored : undefined);
              if (!transition) return undefined;
              const { revision } = transition;
              const applied: ProposalStep = {
                proposalID: id,
                kind: 'APPLIED',
                at: revision.at,
                by: undefined,
                reason: undefined,
              };
              return {
                ...transition,
                revision: { ...revision, proposal: { id, ...(approvedBy && { approvedBy }) } },
                steps: approval ? [approval, applied] : [applied],
              };
            },
            ofOrg,
          ),
      },
    };
  }
}

/**
 * The change is made as its proposer, who is verified as for a request: one that has begun before a revocation may end after it.
 *
 * @throws {AppError} FORBIDDEN when the credential of the proposer is revoked or expired.
 */
async function requireTrust(ports: Ports, { credentialID }: Actor): Promise<void> {
  const why = await ports.whyNotTrusted(credentialID);
  if (why === undefined) return;
  throw new AppError('FORBIDDEN', `The credential that has proposed the change is ${why}. Propose the change again.`);
}

async function recordUnchanged(
  ports: Ports,
  proposal: KnownProposal,
  approval: ProposalStep | undefined,
): Promise<void> {
  if (approval) await ports.proposals.record({ step: approval, due: ports.now() });
  await end(ports, proposal, 'APPLIED');
}

const pageSize = 100;

/** Is called with a proposal that could not be applied now. */
type ReportFailure = (proposalID: string, error: unknown) => void;

/**
 * Applies the proposals whose time has come, and ends those that nobody has approved in time. Any number of processes may do
 * this at once.
 *
 * @returns how many have ended
 */
export async function applyDueProposals(ports: Ports, report: ReportFailure): Promise<number> {
  const due = await ports.proposals.due(ports.now(), pageSize);
  let ended = 0;
  for (const id of due) {
    try {
      const proposal = await ports.proposals.find(id);
      if (!proposal || proposal.end) continue;
      if (stateOfProposal(proposal) === 'OPEN') await end(ports, proposal, 'EXPIRED');
      else await applyProposal(ports, proposal, undefined, { requestID: '' });
      ended += 1;
    } catch (error) {
      report(id, error);
    }
  }
  return ended;
}

/** A proposal shows its key. */
function requireScopes(caller: CallContext, scope: Scope): void {
  requireScope(caller, 'read');
  requireScope(caller, scope);
}

async function requireUnended(ports: Ports, caller: CallContext, id: string): Promise<KnownProposal> {
  const proposal = await ports.proposals.find(id, caller.orgID);
  if (!proposal) throw noSuchProposal();
  const { expiresAt, approval } = proposal;
  if (!proposal.end && !approval && expiresAt && expiresAt <= ports.now()) await end(ports, proposal, 'EXPIRED');
  else if (!proposal.end) return proposal;
  throw await meanwhile(ports, id);
}

async function requireFound(ports: Ports, id: string): Promise<KnownProposal> {
  const proposal = await ports.proposals.find(id);
  if (!proposal) throw noSuchProposal();
  return proposal;
}

async function meanwhile(ports: Ports, id: string): Promise<AppError> {
  return hasEnded(await requireFound(ports, id));
}

function hasEnded(proposal: KnownProposal): AppError {
  const state = stateOfProposal(proposal).toLowerCase();
  return new AppError('CONFLICT', `The proposal is ${state} already.`, {
    issues: [{ path: ['id'], code: 'PROPOSAL_ENDED', message: `is ${state} already` }],
  });
}

function noSuchProposal(): AppError {
  return new AppError('NOT_FOUND', 'There is no such proposal.');
}
