import { parseJSON, stringifyJSON } from '../../lib/json.js';
import type { KnownProposal, Proposal, ProposalStep } from '../../keys/proposals/proposal.js';
import { defineTable, type Columns, type RowOf } from './signed.js';

const proposalColumns = {
  id: 'text',
  org_id: 'text',
  key_hash: 'text',
  at: 'integer',
  content: 'text',
} as const satisfies Columns;

/** The signed columns of a proposal. */
export type ProposalRow = RowOf<typeof proposalColumns>;

/** The table of proposals. */
export const proposalTable = defineTable<ProposalRow>('proposals', proposalColumns);

const stepColumns = {
  id: 'text',
  proposal: 'text',
  at: 'integer',
  content: 'text',
} as const satisfies Columns;

/** A step of a proposal. */
export type ProposalStepRow = RowOf<typeof stepColumns>;

/** The table of steps. */
export const proposalStepTable = defineTable<ProposalStepRow>('proposal_steps', stepColumns);

/** The members of a proposal that have no column. Dates are in milliseconds. */
interface ProposalContent extends Omit<
  Proposal,
  'id' | 'orgID' | 'keyHash' | 'proposedAt' | 'applyAt' | 'expiresAt' | 'identity' | 'reason'
> {
  readonly identity?: string | undefined;
  readonly reason?: string | undefined;
  readonly applyAt?: number | undefined;
  readonly expiresAt?: number | undefined;
}

/** Returns the row of a proposal. */
export function proposalToRow(proposal: Proposal): ProposalRow {
  const { id, orgID, keyHash, proposedAt, applyAt, expiresAt, ...content } = proposal;
  const written: ProposalContent = { ...content, applyAt: applyAt?.getTime(), expiresAt: expiresAt?.getTime() };
  return { id, org_id: orgID, key_hash: keyHash, at: BigInt(proposedAt.getTime()), content: stringifyJSON(written) };
}

/** Returns the proposal of a row and its steps, all of which passed their integrity check. */
export function proposalFromRow(row: ProposalRow, steps: readonly ProposalStepRow[]): KnownProposal {
  // Written by us, from this very type.
  const { identity, reason, applyAt, expiresAt, ...content } = parseJSON(row.content) as unknown as ProposalContent;
  const known = steps.map(stepFromRow);
  return {
    ...content,
    id: row.id,
    orgID: row.org_id,
    keyHash: row.key_hash,
    identity,
    reason,
    proposedAt: new Date(Number(row.at)),
    applyAt: applyAt === undefined ? undefined : new Date(applyAt),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    approval: known.find(({ kind }) => kind === 'APPROVED'),
    end: known.find(({ kind }) => kind !== 'APPROVED'),
  };
}

type StepContent = Pick<ProposalStep, 'kind' | 'problem'> & Partial<Pick<ProposalStep, 'by' | 'reason'>>;

/** Returns the row of a step. Its identifier makes it the only one of its proposal that approves it, or ends it. */
export function stepToRow({ proposalID, kind, at, by, reason, problem }: ProposalStep): ProposalStepRow {
  const content: StepContent = { kind, by, reason, problem };
  return {
    id: `${proposalID}.${kind === 'APPROVED' ? 'approval' : 'end'}`,
    proposal: proposalID,
    at: BigInt(at.getTime()),
    content: stringifyJSON(content),
  };
}

function stepFromRow(row: ProposalStepRow): ProposalStep {
  // Written by us, from this very type.
  const { kind, by, reason, problem } = parseJSON(row.content) as unknown as StepContent;
  return { proposalID: row.proposal, kind, at: new Date(Number(row.at)), by, reason, problem };
}
