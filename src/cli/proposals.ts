import { proposalStates, unendedStates, type ProposalState } from '../keys/proposals/proposal.js';
import { pathText } from '../lib/errors.js';
import { printable } from '../lib/text.js';
import { issuesToWire } from '../wire/field-names.js';
import { actorToJSON, changeToJSON, formatActor, formatChanges, shortHash } from './changes.js';
import type { Decision, ShownProposal } from './client/proposal-operations.js';
import { keyLocation, keysOptions, parseNumberOption, runKeysCommand, stringOption } from './client/run.js';
import type { CLICommand, OptionValues } from './command.js';
import { actorOption, endWithSuggestion, parseOrgIDOption } from './input.js';
import { UsageError, type IO } from './io.js';
import { formatTable, toJSONLine, type OutputFormat, type Problem } from './output.js';

const defaultProposals = 20;
const maxProposals = 1000;
const cannotAccess = 'invalid usage, or the proposals cannot be accessed: no installation, service or valid credential';
const stateNames = Object.keys(proposalStates).map((state) => state.toLowerCase());

export const listProposalsCommand: CLICommand = {
  name: 'proposals list',
  summary: 'List proposed changes of keys, newest first',
  description: `By default those that wait for an approval or their time. ${keyLocation}`,
  options: {
    state: {
      value: 'STATES',
      description: `Proposals in these states, separated by commas: ${stateNames.join(', ')}; or all`,
    },
    org: { value: 'ID', description: 'Proposals for keys of this organization' },
    limit: {
      value: 'N',
      description: `Maximum number of proposals, up to ${maxProposals} (default ${defaultProposals})`,
    },
    ...keysOptions,
  },
  exitCodes: { 1: 'rejected; the reasons are printed', 2: cannotAccess },
  examples: ['keyfront proposals list', 'keyfront proposals list --state all --org acme --json'],
  run: listProposals,
  errorExitCode: 2,
};

const headings = ['ID', 'STATE', 'CHANGE', 'KEY', 'ORGANIZATION', 'PROPOSED', 'BY', 'AT', 'REASON'];

async function listProposals(io: IO, options: OptionValues): Promise<number> {
  const limit = parseNumberOption(options, 'limit', maxProposals) ?? defaultProposals;
  const filter = { states: parseStates(options['state']), orgID: parseOrgIDOption(options['org']) };
  return runKeysCommand({ io, command: 'proposals list', options, access: 'read' }, async ({ proposals, format }) => {
    // One more than is shown tells whether there are more.
    const read = await proposals.list(filter, limit + 1);
    const found = read.slice(0, limit);
    if (format.isJSON) for (const proposal of found) io.stdout(`${toJSONLine(toJSON(proposal))}\n`);
    else if (found.length > 0) io.stdout(formatTable([headings, ...found.map(toRow)]));
    if (found.length === 0) io.stderr('There are no such proposals.\n');
    if (read.length > limit) io.stderr(`There are older proposals. Show more with --limit, up to ${maxProposals}.\n`);
    return 0;
  });
}

/** @throws {UsageError} for a state that does not exist */
function parseStates(text: OptionValues[string]): readonly ProposalState[] | undefined {
  if (text === 'all') return undefined;
  if (typeof text !== 'string') return unendedStates;
  return text.split(',').map((name) => {
    const state = name.toUpperCase();
    if (isState(state)) return state;
    throw new UsageError(
      `--state must be some of ${stateNames.join(', ')}, or all${endWithSuggestion(name, stateNames)}`,
    );
  });
}

const isState = (text: string): text is ProposalState => Object.hasOwn(proposalStates, text);

export const showProposalCommand: CLICommand = {
  name: 'proposals show',
  summary: 'Show a proposed change with its differences',
  description: keyLocation,
  arguments: ['ID'],
  options: keysOptions,
  exitCodes: { 1: 'there is no such proposal', 2: cannotAccess },
  examples: ['keyfront proposals show prop_0123456789abcdef0123456789abcdef'],
  run: showProposal,
  errorExitCode: 2,
};

async function showProposal(io: IO, options: OptionValues, [id = '']: readonly string[]): Promise<number> {
  return runKeysCommand({ io, command: 'proposals show', options, access: 'read' }, async ({ proposals, format }) => {
    const proposal = await proposals.find(id);
    if (proposal) io.stdout(formatProposal(format, proposal));
    else io.stderr(`There is no proposal ${printable(id)}.\n`);
    return proposal ? 0 : 1;
  });
}

const decisionCommand = (decision: Decision, given: Pick<CLICommand, 'summary' | 'description'>): CLICommand => ({
  ...given,
  name: `proposals ${decision}`,
  arguments: ['ID'],
  options: {
    reason: { value: 'TEXT', description: 'What others should know about the decision; do not include secrets' },
    actor: actorOption,
    ...keysOptions,
  },
  exitCodes: { 0: 'done', 1: 'rejected, or the change was not possible; the reasons are printed', 2: cannotAccess },
  examples: [`keyfront proposals ${decision} prop_0123456789abcdef0123456789abcdef --reason 'OPS-812'`],
  run: (io, options, [id = '']) =>
    runKeysCommand({ io, command: `proposals ${decision}`, options }, async ({ proposals, format }) => {
      const decided = await proposals.decide(decision, { id, reason: stringOption(options, 'reason') });
      io.stdout(formatProposal(format, decided));
      return decided.state === 'STALE' ? 1 : 0;
    }),
  errorExitCode: 2,
});

export const approveProposalCommand = decisionCommand('approve', {
  summary: 'Approve a change that another person has proposed',
  description: `The change is made at once, or at its time. If the key has changed since, nothing is made. ${keyLocation}`,
});

export const rejectProposalCommand = decisionCommand('reject', {
  summary: 'Reject a proposed change',
  description: `Also one that was approved and waits for its time. ${keyLocation}`,
});

export const withdrawProposalCommand = decisionCommand('withdraw', {
  summary: 'Withdraw a change that you have proposed',
  description: `Only the credential that has proposed it can withdraw it. ${keyLocation}`,
});

function toRow(proposal: ShownProposal): string[] {
  const { id, state, kind, keyHash, orgID, proposedAt, proposedBy, applyAt, reason } = proposal;
  return [
    printable(id),
    state.toLowerCase(),
    kind.toLowerCase(),
    shortHash(keyHash),
    printable(orgID),
    printable(proposedAt),
    printable(proposedBy.assertedName ?? proposedBy.label),
    printable(applyAt ?? 'approval'),
    printable(reason ?? ''),
  ];
}

function toJSON(proposal: ShownProposal): object {
  return {
    id: proposal.id,
    state: proposal.state,
    kind: proposal.kind,
    org_id: proposal.orgID,
    key_hash: proposal.keyHash,
    expected_version: proposal.expectedVersion,
    reason: proposal.reason,
    proposed_by: actorToJSON(proposal.proposedBy),
    proposed_at: proposal.proposedAt,
    apply_at: proposal.applyAt,
    expires_at: proposal.expiresAt,
    approved_by: proposal.approvedBy && actorToJSON(proposal.approvedBy),
    approved_at: proposal.approvedAt,
    approval_reason: proposal.approvalReason,
    ended_by: proposal.endedBy && actorToJSON(proposal.endedBy),
    ended_at: proposal.endedAt,
    end_reason: proposal.endReason,
    ...(proposal.resetsQuota && { resets_quota: true }),
    problem: proposal.problem,
    ...(proposal.problemIssues.length > 0 && {
      problem_issues: problemsOfEnd(proposal),
    }),
    changes: proposal.changes.map(changeToJSON),
  };
}

/** Why a proposal has ended without its change, field by field in the names of REST. */
function problemsOfEnd({ problemIssues }: ShownProposal): Problem[] {
  return issuesToWire(problemIssues, null).map(({ path, code, message }) => ({ path: pathText(path), code, message }));
}

/** Formats a proposal with its differences, as text or as a line of JSON. */
export function formatProposal(format: OutputFormat, proposal: ShownProposal): string {
  if (format.isJSON) return `${toJSONLine(toJSON(proposal))}\n`;
  const { paint } = format;
  const { id, state, kind, keyHash, orgID, expectedVersion, reason, applyAt, expiresAt } = proposal;
  const because = (text: string | undefined) => (text ? `: ${printable(text)}` : '');
  const lines = [
    `${paint.bold(printable(id))}  ${state.toLowerCase()}  ${kind.toLowerCase()}${kind === 'CREATE' ? '' : ` of version ${expectedVersion}`}`,
    `  key       ${printable(keyHash)}  ${printable(orgID)}`,
    `  proposed  ${printable(proposal.proposedAt)} by ${formatActor(proposal.proposedBy)}${because(reason)}`,
    proposal.resetsQuota && '  quota     is reset',
    applyAt !== undefined && `  at        ${printable(applyAt)}`,
    state === 'OPEN' && expiresAt !== undefined && `  expires   ${printable(expiresAt)}`,
    proposal.approvedBy &&
      `  approved  ${printable(proposal.approvedAt ?? '')} by ${formatActor(proposal.approvedBy)}${because(proposal.approvalReason)}`,
    proposal.endedAt !== undefined &&
      `  ended     ${printable(proposal.endedAt)}${proposal.endedBy ? ` by ${formatActor(proposal.endedBy)}` : ''}${because(proposal.endReason)}`,
    proposal.problem !== undefined && `  problem   ${printable(proposal.problem)}`,
    ...problemsOfEnd(proposal).map(({ path, message }) => `            ${printable(`${path} ${message}`)}`),
  ].filter((line) => typeof line === 'string');
  return `${lines.join('\n')}\n${formatChanges(format, proposal.changes)}`;
}
