import { withWireIssuePaths } from '../../../rest/json-body.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
import { UsageError, type IO } from '../../io.js';
import {
  changeExitCodes,
  expectedVersionOption,
  keyLocation,
  keyOptions,
  reasonOption,
} from '../../key-client/options.js';
import { changeOptionsFrom, parseNumberOption, runKeyCommand } from '../../key-client/run-key-command.js';
import { printChange } from '../../output/diff.js';

export const revertCommand: CLICommand = {
  name: 'revert',
  summary: 'Revert a key to an earlier version by creating a new version',
  description: `Secrets and the live quota stay unchanged. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    to: { value: 'VERSION', description: 'Version whose definition is restored', isRequired: true },
    'expected-version': expectedVersionOption,
    reason: reasonOption,
    actor: actorOption,
    ...keyOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront revert acme-billing --to 2'],
  environment: keyVariables,
  run: revert,
  errorExitCode: 2,
};

async function revert(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const toVersion = parseNumberOption(options, 'to');
  if (toVersion === undefined) throw new UsageError('--to VERSION is required.');
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'revert', options, args }, async ({ keys, format, keyID }) => {
    const result = await withWireIssuePaths(null, () => keys.revert(keyID, toVersion, changeOptions));
    printChange(io, format, { action: 'modified', result, body: null });
    return 0;
  });
}
