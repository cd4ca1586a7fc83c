import { formatTime } from '../format.js';
import { keyAddress } from '../key-address.js';
import { identityOf, whoOf } from '../key/history-entries.js';
import { Button } from '../parts/button.js';
import { Diff } from '../parts/diff.js';
import { Ago } from '../parts/time.js';
import { Warnings } from '../parts/warnings.js';
import { Link } from '../router.js';
import { useSession } from '../session.js';
import type { Decision } from './decision-dialog.js';
import { nameOfKey } from './proposal-name.js';
import { Problems } from './proposal-problems.js';
import { hasMovedOn, type Proposal } from './read-proposals.js';
import { proposalsText as texts } from './strings.js';

interface ProposalItemProps {
  readonly proposal: Proposal;
  /** Whether the page is that of the key. */
  readonly isOnKeyPage?: boolean;
  /** Is called when the viewer wants to decide. */
  readonly onDecide: (decision: Decision) => void;
}

/** One proposal in a feed: who proposes what and why, whether it waits, and what the viewer can decide. */
export function ProposalItem({ proposal, isOnKeyPage = false, onDecide }: ProposalItemProps) {
  const { viewer, can } = useSession();
  const { id, state, kind, isOwn, proposedBy, proposedAt, changes, reason, warnings, orgKey, keyHash } = proposal;
  const name = nameOfKey(proposal);
  const identity = identityOf(proposedBy);
  const isWaiting = state === 'OPEN' || state === 'SCHEDULED';
  const mayWithdraw = isWaiting && can('PROPOSE') && proposedBy.credentialID === viewer?.credentialID;
  const mayReject = isWaiting && can('APPROVE') && !mayWithdraw;
  const mayApprove = state === 'OPEN' && can('APPROVE') && !isOwn;
  const decisions = [
    ...(mayApprove ? (['approve'] as const) : []),
    ...(mayReject ? (['reject'] as const) : []),
    ...(mayWithdraw ? (['withdraw'] as const) : []),
  ];
  return (
    <li data-proposal={id}>
      <div class="what">
        <b>{whoOf(proposedBy)}</b> {identity !== undefined && <small>({identity}) </small>}
        {texts.proposes[kind]} {subject()} {!isOnKeyPage && <small>{proposal.orgID}</small>}
      </div>
      <div class="when">
        <small>
          <Ago at={proposedAt} />
        </small>
      </div>
      <p>
        <StateOf proposal={proposal} />
      </p>
      {reason !== null && <p class="why">“{reason}”</p>}
      {changes.length > 0 && <Diff changes={changes} />}
      {proposal.resetsQuota && <p>{texts.resetsQuota}</p>}
      {isWaiting && <Warnings warnings={warnings} />}
      {isWaiting && hasMovedOn(proposal) && orgKey && (
        <p class="note warn">{texts.moved(proposal.expectedVersion, orgKey.version)}</p>
      )}
      {state === 'STALE' && <Problems proposal={proposal} />}
      {state === 'OPEN' && can('APPROVE') && isOwn && <p class="quiet-text">{texts.own}</p>}
      {decisions.length > 0 && (
        <div class="actions">
          {decisions.map((one) => (
            <Button key={one} aria-label={`${texts[one]} ${texts.of(name)}`} onClick={() => onDecide(one)}>
              {texts[one]}
            </Button>
          ))}
        </div>
      )}
    </li>
  );

  function subject() {
    if (isOnKeyPage) return texts.thisKey;
    // A key that is not created yet, or is purged, has no page.
    return orgKey ? <Link to={keyAddress(keyHash)}>{name}</Link> : <span title={keyHash}>{name}</span>;
  }
}

const tones = {
  OPEN: 'warn',
  SCHEDULED: 'ok',
  APPLIED: 'ok',
  STALE: 'bad',
  REJECTED: 'off',
  WITHDRAWN: 'off',
  EXPIRED: 'off',
} as const;

/** The state in words: until when it waits, or who ended it, and why. */
function StateOf({ proposal }: { readonly proposal: Proposal }) {
  const { state, applyAt, expiresAt, approvedBy, approvalReason, endedAt, endedBy, endReason } = proposal;
  return (
    <>
      <span class={`state ${tones[state]}`}>{texts.states[state]}</span>{' '}
      <small>
        {state === 'OPEN' && applyAt === null && expiresAt !== null && (
          <>
            {texts.expires} <Ago at={expiresAt} />
          </>
        )}
        {endedAt === null && applyAt !== null && (
          <>
            {texts.applies} <Ago at={applyAt} /> ({formatTime(applyAt)}) {state === 'OPEN' && texts.then}
          </>
        )}
        {endedAt !== null && <Ago at={endedAt} />}
        {endedBy && ` ${texts.endedBy(whoOf(endedBy))}`}
        {endReason !== null && ` “${endReason}”`}
        {approvedBy && `, ${texts.approvedBy(whoOf(approvedBy))}`}
        {approvalReason !== null && ` “${approvalReason}”`}
      </small>
    </>
  );
}
