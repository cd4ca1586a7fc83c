import { Problem } from '../parts/problem.js';
import { useDecision } from '../proposals/decision-dialog.js';
import { ProposalItem } from '../proposals/proposal-item.js';
import { readProposals, waitingStates } from '../proposals/read-proposals.js';
import { Link } from '../router.js';
import { useClient } from '../session.js';
import { useLoad } from '../use-load.js';
import type { SectionProps } from './read-key.js';
import { keyText } from './strings.js';

const texts = keyText.proposals;
const shown = 10;

/** The proposed changes of the key that wait. Nothing if there are none. */
export function ProposalsOfKey({ found, onChanged }: SectionProps) {
  const client = useClient('service');
  const { keyHash } = found;
  const { data, error, reload } = useLoad(
    (signal) => readProposals(client, { keyHash, states: [...waitingStates], first: shown }, signal),
    [client, found],
  );
  const { decide, dialog } = useDecision(onChanged);
  if (!error && (data?.proposals ?? []).length === 0) return dialog;
  return (
    <section class="panel" aria-labelledby="proposals">
      <header>
        <h2 id="proposals">{texts.title}</h2>
      </header>
      <Problem error={error} retry={reload} />
      <ol class="feed">
        {data?.proposals.map((proposal) => (
          <ProposalItem key={proposal.id} proposal={proposal} isOnKeyPage onDecide={decide(proposal)} />
        ))}
      </ol>
      {data?.pageInfo.hasNextPage && (
        <p class="body">
          <Link to="/console/proposals">{texts.more}</Link>
        </p>
      )}
      {dialog}
    </section>
  );
}
