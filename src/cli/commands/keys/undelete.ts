import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
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

export const undeleteCommand: CLICommand = {
  name: 'undelete',
  summary: 'Restore a deleted key',
  description: `Possible for the days of KEYFRONT_RESTORE_DAYS after \`delete\`. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { 'expected-version': expectedVersionOption, reason: reasonOption, actor: actorOption, ...keyOptions },
  exitCodes: changeExitCodes,
  examples: ['keyfront undelete acme-billing'],
  environment: keyVariables,
  run: undelete,
  errorExitCode: 2,
};

async function undelete(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const changeOptions = changeOptionsFrom(options);
  return runKeyCommand({ io, command: 'undelete', options, args }, async ({ keys, format, keyID }) => {
    const result = await keys.undelete(keyID, changeOptions);
    printChange(io, format, { action: 'restored', result, body: null });
    return 0;
  });
}
