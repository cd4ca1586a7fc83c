import { useState } from 'preact/hooks';
import {
  ApproveKeyProposalDocument,
  RejectKeyProposalDocument,
  WithdrawKeyProposalDocument,
  type ProposalFragment,
} from '../../client/client.js';
import { formatTime } from '../format.js';
import { Button } from '../parts/button.js';
import { closeDialog, Confirm, Dialog } from '../parts/dialog.js';
import { Diff } from '../parts/diff.js';
import { Problem } from '../parts/problem.js';
import { required } from '../results.js';
import { useClient } from '../session.js';
import { text } from '../strings.js';
import { useAction, useLoad } from '../use-load.js';
import { nameOfKey } from './proposal-name.js';
import { Problems } from './proposal-problems.js';
import { hasMovedOn, readPreview, type Proposal } from './read-proposals.js';
import { proposalsText as texts } from './strings.js';

/** What can be decided about a proposal. */
export type Decision = 'approve' | 'reject' | 'withdraw';

/**
 * Returns a function that opens the dialog of a decision, and the dialog. It stays open when its proposal leaves the list.
 *
 * @param onDecided - is called with what was done; with undefined if the proposal has ended otherwise
 */
export function useDecision(onDecided: (decision: Decision | undefined) => void) {
  const [open, setOpen] = useState<{ readonly decision: Decision; readonly proposal: Proposal }>();
  const decide = (proposal: Proposal) => (decision: Decision) => setOpen({ decision, proposal });
  const dialog = open && <DecisionDialog {...open} onDecided={onDecided} onClose={() => setOpen(undefined)} />;
  return { decide, dialog };
}

interface DecisionDialogProps {
  readonly decision: Decision;
  readonly proposal: Proposal;
  readonly onDecided: (decision: Decision | undefined) => void;
  readonly onClose: () => void;
}

/** The confirmation of a decision, before an approval with a new preview. A proposal that became stale says why. */
function DecisionDialog({ decision, proposal, onDecided, onClose }: DecisionDialogProps) {
  const client = useClient('service');
  const { id } = proposal;
  const [stale, setStale] = useState<ProposalFragment>();
  const send = useAction(async (reason: string | null) => {
    const decided = await decide(reason);
    if (decided.state === 'STALE') return setStale(decided);
    onClose();
    onDecided(decision);
  });
  // Another decision came first: the list shows which.
  const isEnded = send.error?.issues.some(({ code }) => code === 'PROPOSAL_ENDED') === true;
  const finish = () => {
    onClose();
    onDecided(undefined);
  };
  if (stale || (isEnded && send.error)) {
    return (
      <Dialog title={stale ? texts.staleTitle : texts.already} onClose={finish}>
        <div role="status">
          {stale ? <Problems proposal={stale} /> : <p>{send.error?.message}</p>}
          {stale && <p>{texts.staleHint}</p>}
        </div>
        {stale && <Preview id={id} />}
        <div class="actions">
          <Button class="primary" onClick={closeDialog}>
            {text.close}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Confirm
      title={texts.titles[decision](nameOfKey(proposal))}
      confirm={texts.confirm[decision]}
      isDangerous={decision === 'approve' && proposal.kind === 'DELETE'}
      action={send}
      onClose={onClose}
    >
      <p>{effectOf(decision, proposal)}</p>
      {decision === 'approve' && <Preview id={id} />}
    </Confirm>
  );

  async function decide(reason: string | null): Promise<ProposalFragment> {
    const variables = { id, reason };
    if (decision === 'approve') {
      const { data, errors } = await client.send(ApproveKeyProposalDocument, variables);
      return required(data.approveKeyProposal, errors, texts.noProposal);
    }
    if (decision === 'reject') {
      const { data, errors } = await client.send(RejectKeyProposalDocument, variables);
      return required(data.rejectKeyProposal, errors, texts.noProposal);
    }
    const { data, errors } = await client.send(WithdrawKeyProposalDocument, variables);
    return required(data.withdrawKeyProposal, errors, texts.noProposal);
  }
}

function effectOf(decision: Decision, proposal: Proposal): string {
  if (decision !== 'approve') return texts.effects[decision];
  if (hasMovedOn(proposal)) return texts.effects.stale;
  return proposal.applyAt === null ? texts.effects.now : texts.effects.atTime(formatTime(proposal.applyAt));
}

/** What the change would do to the key as it is now. */
function Preview({ id }: { readonly id: string }) {
  const client = useClient('service');
  const { data, error, isLoading } = useLoad((signal) => readPreview(client, id, signal), [client, id]);
  if (error) return <Problem error={error} />;
  if (!data || isLoading) return <p role="status">{text.loading}</p>;
  // Without a problem, there is no key to compare with.
  if (!data.preview) return <Problem error={data.problem} />;
  const { changes } = data.preview;
  return (
    <>
      <p role="status">{changes.length > 0 ? texts.preview : texts.previewNothing}</p>
      {changes.length > 0 && <Diff changes={changes} />}
    </>
  );
}
