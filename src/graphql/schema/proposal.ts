import { withAssertedName } from '../../http/actor-header.js';
import { hasScope } from '../../keys/authorization.js';
import type { Issue } from '../../lib/errors.js';
import { isOwnProposal } from '../../keys/proposals/decide.js';
import {
  changeKinds,
  proposalStates,
  stateOfProposal,
  type ChangeKind,
  type KnownProposal,
  type ProposalState,
} from '../../keys/proposals/proposal.js';
import type { ProposalPosition } from '../../keys/proposals/proposal-store.js';
import { timeCursors } from '../../wire/list-cursor.js';
import { builder } from './builder.js';
import { OrgKeyChangePreview } from './change.js';
import { KeyFieldChange } from './definition.js';
import { KeyActor } from './history.js';
import { KeyIssue, KeyWarning } from './issue.js';
import { OrgKey } from './key.js';
import { readForwardPage } from './pagination.js';
import { enumValuesOf } from './types-from-zod.js';

const KeyProposalState = builder.enumType('KeyProposalState', {
  description: 'The state of a proposal.',
  values: enumValuesOf<ProposalState>(proposalStates),
});

const KeyProposalKind = builder.enumType('KeyProposalKind', {
  description: 'The kind of change that is proposed.',
  values: enumValuesOf<ChangeKind>(changeKinds),
});

const dateTime = (date: Date | undefined) => date?.toISOString();

/** A change that is stored to be made later. */
export const KeyProposal = builder.objectRef<KnownProposal>('KeyProposal').implement({
  description: 'A change of a key that is stored, to be made when another person approves it, or at its time.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the proposal, which cannot be guessed.' }),
    state: t.field({ type: KeyProposalState, description: 'The state of the proposal.', resolve: stateOfProposal }),
    kind: t.expose('kind', { type: KeyProposalKind, description: 'The kind of change.' }),
    orgID: t.exposeString('orgID', { description: 'Identifier of the organization that owns the key.' }),
    keyHash: t.exposeString('keyHash', {
      description: 'Hash of the key. For CREATE, of the key that is created when the proposal is applied.',
    }),
    orgKey: t.field({
      type: OrgKey,
      nullable: true,
      description:
        'The key as it is now. Null if it is purged, or not created yet. The proposal still fits if its `version` is `expectedVersion`.',
      resolve: ({ keyHash }, _, { loaders }) => loaders.remainingKeys.load(keyHash),
    }),
    expectedVersion: t.exposeInt('expectedVersion', {
      description: 'Version of the key that the change is for; 0 for CREATE.',
    }),
    changes: t.field({
      type: [KeyFieldChange],
      description:
        'The fields that differ, from the dry run when the change was proposed. A secret that was sent is `NOT_COMPARED` or `SET`, without its value.',
      resolve: ({ changes }) => [...changes],
    }),
    resetsQuota: t.exposeBoolean('resetsQuota', { description: 'Whether the change resets the live quota.' }),
    warnings: t.field({
      type: [KeyWarning],
      description: 'Warnings about the definition that was sent; often empty.',
      resolve: ({ warnings }) => [...warnings],
    }),
    reason: t.string({
      nullable: true,
      description: 'Reason for the change. Null if none was given.',
      resolve: ({ reason }) => reason,
    }),
    proposedBy: t.expose('proposedBy', { type: KeyActor, description: 'Who proposed the change.' }),
    isOwn: t.boolean({
      description:
        'Whether the caller is the proposer, or shares a name with them, so that another person must approve it. The header X-Keyfront-Actor counts.',
      resolve: (proposal, _, { serviceCaller, requestContext: { headers } }) => {
        const caller = serviceCaller();
        // The name counts as it would in an approval. Without the scope, a query ignores the header.
        return isOwnProposal(hasScope(caller, 'actor') ? withAssertedName(caller, headers) : caller, proposal);
      },
    }),
    proposedAt: t.field({
      type: 'KeyDateTime',
      description: 'When the change was proposed.',
      resolve: ({ proposedAt }) => proposedAt.toISOString(),
    }),
    applyAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When the change is made, within seconds. Null to make it when it is approved.',
      resolve: ({ applyAt }) => dateTime(applyAt),
    }),
    needsApproval: t.exposeBoolean('needsApproval', { description: 'Whether another person must approve it.' }),
    expiresAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'Until when it must be approved. Null if it needs no approval.',
      resolve: ({ expiresAt }) => dateTime(expiresAt),
    }),
    approvedBy: t.field({
      type: KeyActor,
      nullable: true,
      description: 'Who approved it. Null if nobody has.',
      resolve: ({ approval }) => approval?.by,
    }),
    approvedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When it was approved. Null if it was not.',
      resolve: ({ approval }) => dateTime(approval?.at),
    }),
    approvalReason: t.string({
      nullable: true,
      description: 'What the approver stated. Null if nothing.',
      resolve: ({ approval }) => approval?.reason,
    }),
    endedAt: t.field({
      type: 'KeyDateTime',
      nullable: true,
      description: 'When it was applied, or ended otherwise. Null before that.',
      resolve: ({ end }) => dateTime(end?.at),
    }),
    endedBy: t.field({
      type: KeyActor,
      nullable: true,
      description: 'Who rejected or withdrew it, or whose approval showed that it was stale. Null for other ends.',
      resolve: ({ end }) => end?.by,
    }),
    endReason: t.string({
      nullable: true,
      description: 'Why it was rejected or withdrawn. Null if no reason was given.',
      resolve: ({ end }) => end?.reason,
    }),
    problem: t.string({
      nullable: true,
      description: 'For STALE: why the change was not possible. Null for other states.',
      resolve: ({ end }) => end?.problem?.message,
    }),
    problemIssues: t.field({
      type: [KeyIssue],
      description:
        'For STALE: the fields that have changed since, with the code `CHANGED_SINCE`, or other problems. Empty for other states.',
      resolve: ({ end }): Issue[] => [...(end?.problem?.issues ?? [])],
    }),
    preview: t.field({
      type: OrgKeyChangePreview,
      nullable: true,
      description:
        'What the change would do to the key as it is now. For STALE, without the secrets that were sent, which are deleted. Null after another end, for a stale CREATE, and if an error is returned.',
      resolve: (proposal, _, { keys, serviceCaller }) => keys.previewOfProposal(serviceCaller(), proposal),
    }),
  }),
});

builder.queryField('keyProposal', (t) =>
  t.field({
    type: KeyProposal,
    nullable: true,
    description:
      'Returns a proposal; null if there is none that the credential can see. Requires a service credential.',
    credential: 'service',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the proposal.' }) },
    resolve: (caller, { id }, { keys }) => keys.proposal(caller, id),
  }),
);

/** @throws {AppError} INVALID when the text is not a cursor of proposals. */
function decodePosition(cursor: string): ProposalPosition {
  const { at, id } = timeCursors.decode(cursor, 'after', 'proposals');
  return { id, proposedAt: at };
}

builder.queryField('keyProposals', (t) =>
  t.connection(
    {
      type: KeyProposal,
      nullable: true,
      description:
        'Lists proposals, the newest first. Read forwards. Requires a service credential. Null if an error is returned. Errors: INVALID if a page size or a cursor is not valid.',
      credential: 'service',
      args: {
        states: t.arg({
          type: [KeyProposalState],
          description: 'Only proposals in these states. Default: all. Example: [OPEN, SCHEDULED].',
        }),
        orgID: t.arg.string({
          description: 'Only proposals of this organization. Default: all that the credential sees.',
        }),
        keyHash: t.arg.string({ description: 'Only proposals for the key with this hash, as in `OrgKey.keyHash`.' }),
      },
      resolve: (caller, { states, orgID, keyHash, ...args }, { keys }) =>
        readForwardPage<KnownProposal>(args, async ({ after, limit }) => {
          const { items: found, isCut } = await keys.proposals(caller, {
            states: states ?? undefined,
            orgID: orgID ?? undefined,
            keyHash: keyHash ?? undefined,
            after: after === undefined ? undefined : decodePosition(after),
            limit,
          });
          const items = found.map((node) => {
            return { cursor: timeCursors.encode({ at: node.proposedAt, id: node.id }), node };
          });
          return { items, ...(isCut && { flags: () => ({ hasNextPage: true }) }) };
        }),
    },
    { name: 'KeyProposalConnection', description: 'A page of proposals.' },
    { name: 'KeyProposalEdge', description: 'A proposal and its cursor.' },
  ),
);

const decisionArgs = builder.args((t) => ({
  id: t.id({ required: true, description: 'Identifier of the proposal.' }),
  reason: t.string({ description: 'What others should know about the decision. At most 500 characters, no secrets.' }),
}));

const decisionErrors =
  'Null if an error is returned. Errors: NOT_FOUND, FORBIDDEN, CONFLICT with the issue `PROPOSAL_ENDED` if it has ended.';

builder.mutationField('approveKeyProposal', (t) =>
  t.field({
    type: KeyProposal,
    nullable: true,
    description: `Approves a proposal of another person, and makes its change in the same transaction, or at its time. If the key has changed since, nothing is made, and the proposal is returned as STALE. Requires a service credential with the scopes \`read\` and \`approve\` that shares no name with the proposer. ${decisionErrors}`,
    credential: 'service',
    args: decisionArgs,
    resolve: (caller, { id, reason }, { keys }) => keys.approveKeyProposal(caller, { id, reason: reason ?? undefined }),
  }),
);

builder.mutationField('rejectKeyProposal', (t) =>
  t.field({
    type: KeyProposal,
    nullable: true,
    description: `Rejects a proposal, also one that was approved and waits for its time. Requires a service credential with the scopes \`read\` and \`approve\`. ${decisionErrors}`,
    credential: 'service',
    args: decisionArgs,
    resolve: (caller, { id, reason }, { keys }) => keys.rejectKeyProposal(caller, { id, reason: reason ?? undefined }),
  }),
);

builder.mutationField('withdrawKeyProposal', (t) =>
  t.field({
    type: KeyProposal,
    nullable: true,
    description: `Withdraws a proposal. Requires the service credential that has proposed it, with the scopes \`read\` and \`propose\`. ${decisionErrors}`,
    credential: 'service',
    args: decisionArgs,
    resolve: (caller, { id, reason }, { keys }) =>
      keys.withdrawKeyProposal(caller, { id, reason: reason ?? undefined }),
  }),
);
