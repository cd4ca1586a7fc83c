import {
  KeyProposalDocument,
  KeyProposalsDocument,
  type Client,
  type KeyProposalState,
  type KeyProposalsQuery,
  type KeyProposalsQueryVariables,
} from '../../client/client.js';
import { nodesOf, required, type NodeOf } from '../results.js';
import { proposalsText } from './strings.js';

/** A proposal of a list. */
export type Proposal = NodeOf<KeyProposalsQuery['keyProposals']>;

/** The states in which a proposal waits. */
export const waitingStates: readonly KeyProposalState[] = ['OPEN', 'SCHEDULED'];

/** Reads a page of proposals, the newest first. */
export async function readProposals(client: Client, variables: KeyProposalsQueryVariables, signal: AbortSignal) {
  const { data, errors } = await client.send(KeyProposalsDocument, variables, { signal });
  const connection = required(data.keyProposals, errors, proposalsText.noProposal);
  return { proposals: nodesOf(connection), pageInfo: connection.pageInfo };
}

/** Reads a proposal with what its change would do now, and why it would not be possible. */
export async function readPreview(client: Client, id: string, signal?: AbortSignal) {
  const { data, errors } = await client.send(KeyProposalDocument, { id }, { signal });
  const { preview } = required(data.keyProposal, errors, proposalsText.noProposal);
  return { preview, problem: preview ? undefined : errors[0] };
}

/** Whether the version of the key has moved on, so that the change cannot be made. */
export function hasMovedOn({ kind, orgKey, expectedVersion }: Proposal): boolean {
  return kind !== 'CREATE' && orgKey !== null && orgKey.version !== expectedVersion;
}
