import * as z from 'zod';
import { changeKinds, proposalStates, stateOfProposal, type KnownProposal } from '../../keys/proposals/proposal.js';
import type { DecisionRequest } from '../../keys/proposals/decide.js';
import type { ProposalPage, ProposalQuery } from '../../keys/proposals/proposal-store.js';
import type { ProposeRequest } from '../../keys/proposals/propose.js';
import type { ProposedChange } from '../../keys/proposals/request.js';
import { parseDefinition } from '../../keys/definition/parse.js';
import type { DefinitionPatch } from '../../keys/definition/patch.js';
import { toInput, withListedRights, type ClientPlace, type LocalPlace, type RemotePlace } from './operations.js';
import { ActorResponse, Change, keysOf, nullable, pageOf, Path, query, readPages } from './responses.js';

/** A proposal as the commands show it. */
export type ShownProposal = z.output<typeof ProposalResponse>;

/** Which proposals to list. */
export type ProposalFilter = Pick<ProposalQuery, 'orgID' | 'states'>;

/** What a command decides. */
export type Decision = 'approve' | 'reject' | 'withdraw';

/** A change that a command proposes. Its definition has the names of the domain, and is not validated. */
export type CommandChange =
  | { readonly kind: 'UPDATE'; readonly definition: unknown; readonly resetQuota: boolean }
  | { readonly kind: 'PATCH'; readonly patch: DefinitionPatch; readonly resetQuota: boolean }
  | { readonly kind: 'CREATE'; readonly definition: unknown; readonly keyIDPrefix: string | undefined }
  | Exclude<ProposedChange, { readonly kind: 'UPDATE' | 'PATCH' | 'CREATE' }>;

/** The options of a proposal. */
type ProposeOptions = Pick<ProposeRequest, 'expectedVersion' | 'applyAt' | 'reason'>;

/** The operations of the commands for proposals, on the data folder or at a service. */
export interface ProposalClient {
  /** The newest proposals, at most `limit`. */
  readonly list: (filter: ProposalFilter, limit: number) => Promise<readonly ShownProposal[]>;
  /** Undefined if there is none. */
  readonly find: (id: string) => Promise<ShownProposal | undefined>;
  readonly decide: (decision: Decision, request: DecisionRequest) => Promise<ShownProposal>;
  /** Proposes a change of a key; without an identifier, a creation. */
  readonly propose: (
    keyID: string | undefined,
    change: CommandChange,
    options: ProposeOptions,
  ) => Promise<ShownProposal>;
}

const actor = '{ credentialID label client assertedName }';
const fields = `id state kind orgID keyHash expectedVersion resetsQuota reason proposedAt applyAt expiresAt approvedAt approvalReason endedAt endReason problem
  proposedBy ${actor} approvedBy ${actor} endedBy ${actor} changes { path kind before after } problemIssues { path code message }`;

const documents = {
  list: `query Proposals($states: [KeyProposalState!], $orgID: String, $first: Int!, $after: String) {
    keyProposals(states: $states, orgID: $orgID, first: $first, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { ${fields} } } } }`,
  find: `query Proposal($id: ID!) { keyProposal(id: $id) { ${fields} } }`,
  propose: `mutation Propose($keyID: ID, $change: KeyChangeInput!, $applyAt: KeyDateTime, $expectedVersion: Int, $reason: String) {
    proposed: proposeKeyChange(keyID: $keyID, change: $change, applyAt: $applyAt, expectedVersion: $expectedVersion, reason: $reason) { ${fields} } }`,
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
  resetsQuota: z.boolean(),
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
const ListResponse = z.object({ keyProposals: pageOf(ProposalResponse) });
const FindResponse = z.object({ keyProposal: nullable(ProposalResponse) });
const DecidedResponse = z.object({ decided: ProposalResponse });
const ProposedResponse = z.object({ proposed: ProposalResponse });

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
    propose: async (keyID, change, options) => {
      const reference = keyID === undefined ? undefined : { keyID };
      return shown(await keys.proposeKeyChange(caller, { ...options, reference, change: toProposedChange(change) }));
    },
  };
}

/** @throws {AppError} INVALID when the definition is not valid. */
function toProposedChange(change: CommandChange): ProposedChange {
  // Integers of a file are exact.
  const hasDecimalStrings = false;
  switch (change.kind) {
    case 'UPDATE': {
      const { kind, definition, resetQuota } = change;
      return { kind, content: { input: parseDefinition('update', definition), resetQuota, hasDecimalStrings } };
    }
    case 'PATCH': {
      const { kind, patch, resetQuota } = change;
      return { kind, content: { patch, resetQuota, hasDecimalStrings } };
    }
    case 'CREATE': {
      const { kind, definition, keyIDPrefix } = change;
      return { kind, content: { input: parseDefinition('update', definition), keyIDPrefix } };
    }
    default:
      return change;
  }
}

function remoteProposals(place: RemotePlace): ProposalClient {
  const { send } = place;
  return {
    list: (filter, limit) =>
      readPages(async (after, wanted) => {
        const variables = { ...filter, first: Math.min(wanted, maxPage), after };
        return (await query(send, documents.list, variables, ListResponse)).keyProposals;
      }, limit),
    find: async (id) => (await query(send, documents.find, { id }, FindResponse)).keyProposal,
    decide: async (decision, request) => (await query(send, documents[decision], request, DecidedResponse)).decided,
    propose: async (keyID, change, { applyAt, ...options }) => {
      const converted = await toChangeInput(place, keyID ?? '', change, options);
      const variables = { ...options, ...converted, keyID, applyAt: applyAt?.toISOString() };
      return (await query(send, documents.propose, variables, ProposedResponse)).proposed;
    },
  };
}

/** Converts a change to the input of GraphQL. The access rights of a patch are those of a version. */
async function toChangeInput(
  place: RemotePlace,
  keyID: string,
  change: CommandChange,
  { expectedVersion }: ProposeOptions,
): Promise<{ readonly change: object; readonly expectedVersion?: number | undefined }> {
  switch (change.kind) {
    case 'UPDATE': {
      const { definition, resetQuota } = change;
      return { change: { update: { input: await toInput(place, keyID, definition), resetQuota } } };
    }
    case 'PATCH': {
      const { resetQuota } = change;
      const { patch, ...version } = await withListedRights(place, keyID, change.patch, { expectedVersion });
      return { change: { patch: { patch: await toInput(place, keyID, patch), resetQuota } }, ...version };
    }
    case 'CREATE': {
      const { definition, keyIDPrefix: prefix } = change;
      return { change: { create: { input: await toInput(place, keyID, definition, {}), prefix } } };
    }
    case 'REVERT':
      return { change: { revert: change.content } };
    case 'ROTATE': {
      const { overlapSeconds: overlap, silenceSeconds: silence, keyIDPrefix: prefix } = change.content;
      return { change: { rotate: { overlap, silence, prefix } } };
    }
    default:
      return { change: { plain: change.kind } };
  }
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
    resetsQuota: proposal.resetsQuota,
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
