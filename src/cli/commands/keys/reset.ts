import { errorCodeOf } from '../../../lib/errors.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import { actorOption } from '../../input/actor.js';
import type { IO } from '../../io.js';
import { changeExitCodes, keyLocation, keyOptions, reasonOption } from '../../key-client/options.js';
import type { KeyChangeResult, KeyClient } from '../../key-client/port.js';
import { runKeyCommand, stringOption } from '../../key-client/run-key-command.js';
import { printChange } from '../../output/diff.js';

export const resetCommand: CLICommand = {
  name: 'reset',
  summary: 'Reset the live quota of a key',
  description: `The definition stays unchanged. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: { reason: reasonOption, actor: actorOption, ...keyOptions },
  exitCodes: changeExitCodes,
  examples: ['keyfront reset acme-billing --reason "paid in advance"'],
  environment: keyVariables,
  run: reset,
  errorExitCode: 2,
};

async function reset(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const reason = stringOption(options, 'reason');
  return runKeyCommand({ io, command: 'reset', options, args }, async ({ keys, format, keyID }) => {
    printChange(io, format, { action: 'modified', result: await resetQuota(keys, keyID, reason), body: null });
    return 0;
  });
}

const maxAttempts = 5;

/** Writes the definition as it was read; the expected version detects a concurrent change, which is then retried. */
async function resetQuota(keys: KeyClient, keyID: string, reason: string | undefined): Promise<KeyChangeResult> {
  for (let attempt = 1; ; attempt++) {
    const { definition, version } = await keys.read(keyID);
    try {
      return await keys.update(keyID, definition, { resetQuota: true, expectedVersion: version, reason });
    } catch (error) {
      if (errorCodeOf(error) !== 'CONFLICT' || attempt === maxAttempts) throw error;
    }
  }
}
