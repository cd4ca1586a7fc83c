import { useState } from 'preact/hooks';
import type { KeyProposalState } from '../../client/client.js';
import { Empty } from '../parts/empty.js';
import { OrganizationChoice } from '../parts/organization-choice.js';
import { PageHead } from '../parts/page-head.js';
import { NextPage } from '../parts/page-links.js';
import { Problem } from '../parts/problem.js';
import { addressWith, Link, useAddress, type AddressParameters } from '../router.js';
import { useClient, useSession } from '../session.js';
import { text } from '../strings.js';
import { useFollow } from '../use-follow.js';
import { useLoad } from '../use-load.js';
import { useDecision, type Decision } from './decision-dialog.js';
import { ProposalItem } from './proposal-item.js';
import { readProposals, waitingStates } from './read-proposals.js';
import { proposalsText } from './strings.js';

const pageSize = 20;
const address = '/console/proposals';
const endedStates: readonly KeyProposalState[] = ['APPLIED', 'STALE', 'REJECTED', 'WITHDRAWN', 'EXPIRED'];

/** The proposed changes that wait for an approval or their time, or those that have ended. */
export function ProposalsView() {
  const client = useClient('service');
  const { viewer } = useSession();
  const { searchParams, search } = useAddress();
  const isEnded = searchParams.get('view') === 'ended';
  const orgID = searchParams.get('org') ?? undefined;
  const [done, setDone] = useState<Decision>();
  const page = useLoad(
    (signal) => {
      const states = [...(isEnded ? endedStates : waitingStates)];
      const variables = { states, orgID: orgID ?? null, first: pageSize, after: searchParams.get('after') };
      return readProposals(client, variables, signal);
    },
    [client, search],
  );
  const { proposals, pageInfo } = page.data ?? {};
  const { decide, dialog } = useDecision((decision) => {
    setDone(decision);
    page.reload();
  });
  useFollow({ orgID: orgID ?? viewer?.orgID }, (change) => {
    // A change of a key makes its proposals outdated; a notice can be about a proposal.
    const isShown = proposals?.some(({ keyHash }) => keyHash === change.keyHash) === true;
    if (isShown || change.__typename === 'OrgKeyNoticed') page.reload();
  });
  const to = (parameters: AddressParameters) =>
    addressWith(address, { view: isEnded ? 'ended' : undefined, org: orgID, ...parameters });
  return (
    <>
      <PageHead
        title={text.nav.proposals}
        actions={
          <OrganizationChoice
            orgID={orgID}
            shown={(proposals ?? []).map((one) => one.orgID)}
            addressOf={(org) => to({ org })}
          />
        }
      >
        {proposalsText.hint}
      </PageHead>
      <nav class="tabs" aria-label={proposalsText.views}>
        <Link to={to({ view: undefined })} current={!isEnded}>
          {proposalsText.waiting}
        </Link>
        <Link to={to({ view: 'ended' })} current={isEnded}>
          {proposalsText.ended}
        </Link>
      </nav>
      <p role="status" class="quiet-text">
        {done && proposalsText.done[done]}
      </p>
      <Problem error={page.error} retry={page.reload} />
      {proposals?.length === 0 && <NoProposals isEnded={isEnded} />}
      {proposals !== undefined && proposals.length > 0 && (
        <section class="panel" aria-label={proposalsText.feed}>
          <ol class="feed">
            {proposals.map((proposal) => (
              <ProposalItem key={proposal.id} proposal={proposal} onDecide={decide(proposal)} />
            ))}
          </ol>
        </section>
      )}
      <NextPage pageInfo={pageInfo} addressOf={to} />
      {dialog}
    </>
  );
}

function NoProposals({ isEnded }: { readonly isEnded: boolean }) {
  return (
    <Empty title={isEnded ? proposalsText.emptyEnded : proposalsText.empty}>
      <p>{isEnded ? proposalsText.emptyEndedHint : proposalsText.emptyHint}</p>
      {!isEnded && (
        <p>
          <code>{proposalsText.emptyCommand}</code>
        </p>
      )}
    </Empty>
  );
}
