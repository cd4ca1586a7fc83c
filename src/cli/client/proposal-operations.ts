import * as z from 'zod';
import { changeKinds, proposalStates, stateOfProposal, type KnownProposal } from '../../keys/proposals/proposal.js';
import type { DecisionRequest } from '../../keys/proposals/decide.js';
import type { ProposalPage, ProposalQuery } from '../../keys/proposals/proposal-store.js';
import type { ClientPlace, LocalPlace, RemotePlace } from './operations.js';
import { ActorResponse, Change, keysOf, nullable, Path, query } from './responses.js';

/** A proposal as the commands show it. */
export type ShownProposal = z.output<typeof ProposalResponse>;

/** Which proposals to list. */
export type ProposalFilter = Pick<ProposalQuery, 'orgID' | 'states'>;

/** What a command decides. */
export type Decision = 'approve' | 'reject' | 'withdraw';

/** The operations of the commands for proposals, on the data folder or at a service. */
export interface ProposalClient {
  /** The newest proposals, at most `limit`. */
  readonly list: (filter: ProposalFilter, limit: number) => Promise<readonly ShownProposal[]>;
  /** Undefined if there is none. */
  readonly find: (id: string) => Promise<ShownProposal | undefined>;
  readonly decide: (decision: Decision, request: DecisionRequest) => Promise<ShownProposal>;
}

const actor = '{ credentialID label client assertedName }';
const fields = `id state kind orgID keyHash expectedVersion reason proposedAt applyAt expiresAt approvedAt approvalReason endedAt endReason problem
  proposedBy ${actor} approvedBy ${actor} endedBy ${actor} changes { path kind before after } problemIssues { path code message }`;

const documents = {
  list: `query Proposals($states: [KeyProposalState!], $orgID: String, $first: Int!, $after: String) {
    keyProposals(states: $states, orgID: $orgID, first: $first, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { ${fields} } } } }`,
  find: `query Proposal($id: ID!) { keyProposal(id: $id) { ${fields} } }`,
  approve: `mutation Approve($id: ID!, $reason: String) { decided: approveKeyProposal(id: $id, reason: $reason) { ${fields} } }`,
  reject: `mutation Reject($id: ID!, $reason: String) { decided: rejectKeyProposal(id: $id, reason: $reason) { ${fields} } }`,
  withdraw: `mutation Withdraw($id: ID!, $reason: String) { decided: withdrawKeyProposal(id: $id, reason: $reason) { ${fields} } }`,
} as const;

const text = nullable(z.string());
const person = nullable(ActorResponse);
const ProposalResponse = z.object({
  id: z.string(),
  state: z.enum(keysOf(proposalStates)),
  kind: z.enum(keysOf(changeKinds)),
  orgID: z.string(),
  keyHash: z.string(),
  expectedVersion: z.number(),
  reason: text,
  proposedBy: ActorResponse,
  proposedAt: z.string(),
  applyAt: text,
  expiresAt: text,
  approvedBy: person,
  approvedAt: text,
  approvalReason: text,
  endedBy: person,
  endedAt: text,
  endReason: text,
  problem: text,
  problemIssues: z.array(z.object({ path: Path, code: z.string(), message: z.string() })),
  changes: z.array(Change),
});
const ListResponse = z.object({
  keyProposals: z.object({
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: text }),
    edges: z.array(z.object({ node: ProposalResponse })),
  }),
});
const FindResponse = z.object({ keyProposal: nullable(ProposalResponse) });
const DecidedResponse = z.object({ decided: ProposalResponse });

/** The largest page. */
const maxPage = 100;

/** Makes a client of the domain in this process, or of a service. */
export function bindProposals(place: ClientPlace): ProposalClient {
  return 'local' in place ? localProposals(place.local) : remoteProposals(place.remote);
}

function localProposals({ keys, caller }: LocalPlace): ProposalClient {
  const decisions = {
    approve: keys.approveKeyProposal,
    reject: keys.rejectKeyProposal,
    withdraw: keys.withdrawKeyProposal,
  };
  return {
    list: async (filter, limit) => {
      const all: ShownProposal[] = [];
      let after: ProposalQuery['after'];
      for (let page: ProposalPage | undefined; !page || (page.isCut && all.length < limit);) {
        page = await keys.proposals(caller, { ...filter, after, limit: limit - all.length });
        for (const item of page.items) {
          if (item instanceof Error) throw item;
          all.push(shown(item));
          after = item;
        }
      }
      return all;
    },
    find: async (id) => {
      const found = await keys.proposal(caller, id);
      return found && shown(found);
    },
    decide: async (decision, request) => shown(await decisions[decision](caller, request)),
  };
}

function remoteProposals({ send }: RemotePlace): ProposalClient {
  return {
    list: async (filter, limit) => {
      const all: ShownProposal[] = [];
      let after: string | undefined;
      do {
        const variables = { ...filter, first: Math.min(limit - all.length, maxPage), after };
        const { edges, pageInfo } = (await query(send, documents.list, variables, ListResponse)).keyProposals;
        all.push(...edges.map(({ node }) => node));
        after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
      } while (after !== undefined && all.length < limit);
      return all;
    },
    find: async (id) => (await query(send, documents.find, { id }, FindResponse)).keyProposal,
    decide: async (decision, request) => (await query(send, documents[decision], request, DecidedResponse)).decided,
  };
}

function shown(proposal: KnownProposal): ShownProposal {
  const { id, kind, orgID, keyHash, expectedVersion, reason, proposedBy, proposedAt, approval, end } = proposal;
  return {
    id,
    state: stateOfProposal(proposal),
    kind,
    orgID,
    keyHash,
    expectedVersion,
    reason,
    proposedBy,
    proposedAt: proposedAt.toISOString(),
    applyAt: proposal.applyAt?.toISOString(),
    expiresAt: proposal.expiresAt?.toISOString(),
    approvedBy: approval?.by,
    approvedAt: approval?.at.toISOString(),
    approvalReason: approval?.reason,
    endedBy: end?.by,
    endedAt: end?.at.toISOString(),
    endReason: end?.reason,
    problem: end?.problem?.message,
    problemIssues: (end?.problem?.issues ?? []).map(({ path, code, message }) => ({ path, code, message })),
    changes: [...proposal.changes],
  };
}
