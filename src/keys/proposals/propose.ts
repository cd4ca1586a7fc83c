import { AppError } from '../../lib/errors.js';
import { stringifyJSON } from '../../lib/json.js';
import { actorOf } from '../actor.js';
import { hasScope, requireScope, visibleKey } from '../authorization.js';
import type { KeyChange } from '../change.js';
import { findNamed, forNamedKey, type KeyName } from '../find-key.js';
import { runIdempotent } from '../idempotency.js';
import { withoutComparison } from '../key-diff.js';
import { noticeOf } from '../notices.js';
import type { CallContext, Ports } from '../ports.js';
import type { KnownProposal, Proposal } from './proposal.js';
import type { ProposedChange, ProposedRequest } from './request.js';
import { dryRunChange, requireProposalSize, scopeOfChange } from './proposed-change.js';

/** How far ahead a time may lie: 90 days. */
export const maxAheadMs = 90 * 86_400_000;

/** How long a proposal without a time waits for an approval: 30 days. */
export const approvalWindowMs = 30 * 86_400_000;

/** A change to store. */
export interface ProposeRequest {
  readonly change: ProposedChange;
  /** The key; undefined for a creation. */
  readonly name: KeyName | undefined;
  /** Default: the version that the key has. */
  readonly expectedVersion?: number | undefined;
  /** When to make the change. Default: when it is approved. */
  readonly applyAt?: Date | undefined;
  readonly reason?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Stores a change with its dry run. A caller who may make the change directly, and names a time, needs no approval.
 *
 * @throws {AppError} FORBIDDEN when the caller lacks the scope `read` or `propose`; INVALID when the time
 * is not valid, or the change would change nothing or is too large; CONFLICT when the key has another version, or the
 * organization has too many proposals; and what the change itself throws.
 */
export async function proposeChange(
  ports: Ports,
  caller: CallContext,
  { change, name, expectedVersion, applyAt, reason, idempotencyKey }: ProposeRequest,
): Promise<KnownProposal> {
  // The dry run shows the key.
  requireScope(caller, 'read');
  requireScope(caller, 'propose');
  const isOwn = hasScope(caller, scopeOfChange[change.kind]);
  const body = { change, name, expectedVersion, applyAt: applyAt?.toISOString(), reason };
  return runIdempotent<KnownProposal>(
    ports,
    caller,
    { operation: 'proposeKeyChange', idempotencyKey, body },
    async (receiptOf) => {
      const at = ports.now();
      requireTime(applyAt, at);
      const request: ProposedRequest = { change, randomHex: ports.randomHex() };
      const { version, identity, result } = await resultOf(ports, caller, name, request, { expectedVersion, reason });
      if (!result.isChanged) throw changesNothing();
      const { key } = result;
      const needsApproval = !isOwn || applyAt === undefined;
      const proposal: Proposal = {
        id: `prop_${ports.newIdentity()}`,
        orgID: key.orgID,
        keyHash: key.keyHash,
        identity,
        kind: change.kind,
        expectedVersion: version,
        changes: result.changes.map(withoutComparison),
        warnings: result.warnings,
        resetsQuota: 'resetQuota' in change.content && change.content.resetQuota,
        reason,
        proposedBy: actorOf(caller),
        proposedAt: at,
        applyAt,
        needsApproval,
        expiresAt: needsApproval ? (applyAt ?? new Date(at.getTime() + approvalWindowMs)) : undefined,
      };
      const sealed = ports.proposalRequests.seal(request, proposal.id);
      requireProposalSize(sealed.length + stringifyJSON(proposal.changes).length);
      const known: KnownProposal = { ...proposal, approval: undefined, end: undefined };
      caller.deadline?.markCommitting();
      await ports.proposals.add({
        proposal,
        sealed,
        notice: noticeOfProposal(proposal, 'proposed', at),
        receipt: receiptOf(known),
      });
      return known;
    },
  );
}

/** The dry run, for the key as it is named now, and the version and the identity that it has. */
async function resultOf(
  ports: Ports,
  caller: CallContext,
  name: KeyName | undefined,
  request: ProposedRequest,
  { expectedVersion, reason }: Pick<ProposeRequest, 'expectedVersion' | 'reason'>,
): Promise<{ readonly version: number; readonly identity: string | undefined; readonly result: KeyChange }> {
  if (!name) {
    const result = await dryRunChange(ports, caller, '', request, { reason });
    return { version: 0, identity: undefined, result };
  }
  const stored = visibleKey(caller, await findNamed(ports, name, caller.orgID));
  if (!stored) throw new AppError('NOT_FOUND', 'There is no such key.');
  const version = expectedVersion ?? stored.version;
  const result = await forNamedKey(ports, name, caller.orgID, (narrowed, own) =>
    dryRunChange(narrowed, caller, own, request, { expectedVersion: version, reason }),
  );
  return { version, identity: result.key.identity, result };
}

/** Returns the notice of what was done with a proposal. It names nobody. */
export function noticeOfProposal(
  { id, identity = '', keyHash, orgID, expectedVersion: version }: Proposal,
  kind: Parameters<typeof noticeOf>[1],
  at: Date,
) {
  return noticeOf({ identity, keyHash, orgID, version }, kind, at, [id], { proposalID: id });
}

/** @throws {AppError} INVALID with the path `applyAt`. */
function requireTime(applyAt: Date | undefined, now: Date): void {
  if (!applyAt) return;
  const ahead = applyAt.getTime() - now.getTime();
  if (ahead > 0 && ahead <= maxAheadMs) return;
  throw new AppError('INVALID', 'The time of the change is not valid.', {
    issues: [{ path: ['applyAt'], code: 'OUT_OF_RANGE', message: 'must be in the future, at most 90 days ahead' }],
  });
}

function changesNothing(): AppError {
  return new AppError('INVALID', 'The change would change nothing.', {
    issues: [{ path: ['change'], code: 'NO_CHANGE', message: 'must change something of the key' }],
  });
}
