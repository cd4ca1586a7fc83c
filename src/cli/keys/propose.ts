import { dateTimeRule, isDateTime } from '../../keys/definition/field-types.js';
import type { JSONValue } from '../../lib/json.js';
import { withWireIssuePaths } from '../../rest/json-body.js';
import type { CommandChange, ProposalClient } from '../client/proposal-operations.js';
import { changeOptionsFrom, stringOption } from '../client/run.js';
import type { OptionValues } from '../command.js';
import { UsageError, type IO } from '../io.js';
import type { OutputFormat } from '../output.js';
import { formatProposal } from '../proposals.js';

/** The options of a change that can be proposed. */
export const proposeOptions = {
  propose: { description: 'Change nothing yet: propose the change, which another person must approve' },
  at: {
    value: 'TIME',
    description:
      'Change nothing yet: schedule the change for this time in RFC 3339, at most 90 days ahead; without the scope of the change, another person must approve it before',
  },
};

/** Proposes the change of a command. */
export interface Proposer {
  /**
   * Proposes the change of a key, or its creation, and prints the proposal. Resolves to the exit code.
   *
   * @param body - the definition as the caller wrote it; null if the command takes none
   */
  readonly propose: (
    context: { readonly proposals: ProposalClient; readonly format: OutputFormat },
    keyID: string | undefined,
    change: CommandChange,
    body: JSONValue,
  ) => Promise<number>;
}

/**
 * Reads the options `--propose` and `--at`. Returns undefined without them.
 *
 * @throws {UsageError} if they are not valid, or are combined with an option of a change that is made now
 */
export function proposerFrom(io: IO, options: OptionValues): Proposer | undefined {
  const applyAt = stringOption(options, 'at');
  if (options['propose'] !== true && applyAt === undefined) return undefined;
  const option = applyAt === undefined ? '--propose' : '--at';
  if (applyAt !== undefined && !isDateTime(applyAt))
    throw new UsageError(`--at ${dateTimeRule}, such as 2027-01-31T00:00:00Z.`);
  for (const other of ['wait', 'create']) {
    if (options[other] === undefined) continue;
    throw new UsageError(`--${other} and ${option} cannot be used together: nothing is changed yet.`);
  }
  const request = { ...changeOptionsFrom(options), applyAt: applyAt === undefined ? undefined : new Date(applyAt) };
  return {
    propose: async ({ proposals, format }, keyID, change, body) => {
      const proposal = await withWireIssuePaths(body, () => proposals.propose(keyID, change, request));
      io.stdout(formatProposal(format, proposal));
      return 0;
    },
  };
}
