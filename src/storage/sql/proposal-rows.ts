import type { RowSigner } from '../../crypto/row-signer.js';
import type { ProposalStep } from '../../keys/proposals/proposal.js';
import { proposalStepTable, stepToRow, type ProposalStepRow } from '../records/proposal.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { insertInto, prepared, valuesOf, type Value } from './session.js';

/** The columns of a step, in the order of {@link stepValues}. */
export const stepColumns = proposalStepTable.columnNames;

/** What the statement of a change writes of the end of its proposal. */
export interface ProposalEndRow {
  readonly id: string;
  readonly state: string;
  readonly ended: bigint;
  readonly steps: readonly SignedRow<ProposalStepRow>[];
}

/** Signs the steps of a change that a proposal makes, the last of which is its end. */
export function createProposalEnds(signer: RowSigner) {
  const table = createSignedTable(signer, proposalStepTable);
  return (steps: readonly ProposalStep[] | undefined): ProposalEndRow | undefined => {
    const end = steps?.at(-1);
    if (!steps || !end) return undefined;
    return {
      id: end.proposalID,
      state: end.kind,
      ended: BigInt(end.at.getTime()),
      steps: steps.map((step) => table.signed(stepToRow(step))),
    };
  };
}

/** Adds a step. Rejects when there is one with its identifier. */
export const insertStep = prepared(insertInto('proposal_steps', stepColumns));

/** The values of {@link insertStep}. */
export function stepValues(row: SignedRow<ProposalStepRow>): Value[] {
  return valuesOf(row, stepColumns);
}

/** Ends a proposal in its row: its identifier, state and time. */
export const endProposal = prepared(
  'UPDATE proposals SET state = $2, ended = $3, due = NULL, sealed = NULL WHERE id = $1',
);
