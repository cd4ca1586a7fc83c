import { isForeign, requireScope } from '../authorization.js';
import { assertReason, withAudit, type KeyChange } from '../change.js';
import type { KeyName } from '../find-key.js';
import { checkKeyID } from '../key-id.js';
import type { CallContext, Ports } from '../ports.js';
import type { KeyReference } from '../queries/read-keys.js';
import { approveProposal, rejectProposal, withdrawProposal, type DecisionRequest } from './decide.js';
import { stateOfProposal, type KnownProposal } from './proposal.js';
import type { ProposalPage, ProposalQuery } from './proposal-store.js';
import { proposeChange, type ProposeRequest } from './propose.js';
import { dryRunChange } from './proposed-change.js';

/** A change to propose, of the key with an identifier or a hash; without one, of a key to create. */
export interface ProposalRequest extends Omit<ProposeRequest, 'name'> {
  readonly reference: KeyReference | undefined;
}

/**
 * The use cases of proposals. Each throws FORBIDDEN if the caller lacks its scope, and INVALID with the path `reason` for a
 * malformed one.
 */
export function createProposals(ports: Ports, nameOf: (reference: KeyReference) => KeyName) {
  const { audit, proposals } = ports;
  const acceptedOf = ({ keyHash, orgID }: KnownProposal) => ({ keyHash, orgID });

  const decision = (
    operation: string,
    decide: (all: Ports, caller: CallContext, request: DecisionRequest) => Promise<KnownProposal>,
  ) =>
    withAudit(audit, {
      operation,
      identify: (_: DecisionRequest) => undefined,
      run: async (caller, _, request) => {
        assertReason(request.reason);
        return decide(ports, caller, request);
      },
      acceptedOf,
    });

  /** Returns a proposal that the caller can see; undefined if there is none. */
  async function proposal(caller: CallContext, id: string): Promise<KnownProposal | undefined> {
    requireScope(caller, 'read');
    return proposals.find(id, caller.orgID);
  }

  return {
    /** See `proposeChange` of propose.ts. */
    proposeKeyChange: withAudit(audit, {
      operation: 'proposeKeyChange',
      identify: ({ reference }: ProposalRequest) => reference && nameOf(reference).hash,
      run: async (caller, _, { reference, ...request }) => {
        assertReason(request.reason);
        const { change } = request;
        if (change.kind === 'CREATE' && change.content.keyID !== undefined) checkKeyID(change.content.keyID);
        return proposeChange(ports, caller, { ...request, name: reference && nameOf(reference) });
      },
      acceptedOf,
    }),
    /** See `approveProposal` of decide.ts. */
    approveKeyProposal: decision('approveKeyProposal', approveProposal),
    /** See `rejectProposal` of decide.ts. */
    rejectKeyProposal: decision('rejectKeyProposal', rejectProposal),
    /** See `withdrawProposal` of decide.ts. */
    withdrawKeyProposal: decision('withdrawKeyProposal', withdrawProposal),
    proposal,
    /** Returns a page of the proposals that the caller can see, the newest first. */
    async proposals(caller: CallContext, query: ProposalQuery): Promise<ProposalPage> {
      requireScope(caller, 'read');
      const { orgID = caller.orgID } = query;
      return isForeign(caller, orgID) ? { items: [], isCut: false } : proposals.list({ ...query, orgID });
    },
    stateOfProposal,
    /**
     * Returns what the change of a proposal would do to the key as it is now, without its secrets if it is stale; undefined if
     * it has ended otherwise, or is the stale creation of a key.
     *
     * @throws {AppError} what the change throws, such as NOT_FOUND when the key was deleted.
     */
    async previewOfProposal(
      caller: CallContext,
      { id, keyHash, proposedBy, orgID }: KnownProposal,
    ): Promise<KeyChange | undefined> {
      requireScope(caller, 'read');
      const sealed = await proposals.sealedOf(id);
      if (!sealed) return undefined;
      await ports.nextSlice();
      const request = ports.proposalRequests.open(sealed, id);
      return dryRunChange(ports, { ...caller, ...proposedBy, orgID }, keyHash, request, {});
    },
  };
}
