import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
import { confirm, notConfirmedExitCode, yesOption } from '../../input/confirm.js';
import type { IO } from '../../io.js';
import {
  changeExitCodes,
  expectedVersionOption,
  keyLocation,
  keyOptions,
  reasonOption,
} from '../../key-client/options.js';
import { changeOptionsFrom, runKeyCommand } from '../../key-client/run-key-command.js';
import { printChange } from '../../output/diff.js';

export const deleteCommand: CLICommand = {
  name: 'delete',
  summary: 'Delete a key',
  description: `The key stops working at once. \`undelete\` restores it for the days of KEYFRONT_RESTORE_DAYS; after them it is purged with its history. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: {
    'expected-version': expectedVersionOption,
    reason: reasonOption,
    actor: actorOption,
    yes: yesOption,
    ...keyOptions,
  },
  exitCodes: changeExitCodes,
  examples: ['keyfront delete acme-billing --reason "contract ended"'],
  environment: keyVariables,
  run: deleteKey,
  errorExitCode: 2,
};

async function deleteKey(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'delete', options, args }, async ({ keys, format, keyID }) => {
    if (!(await confirm(io, options, 'Delete the key? It stops working at once.'))) return notConfirmedExitCode;
    const result = await keys.delete(keyID, changeOptions);
    printChange(io, format, { action: 'deleted', result, body: null });
    return 0;
  });
}
