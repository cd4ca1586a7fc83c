import { printable } from '../../../lib/text.js';
import { definitionToWire } from '../../../wire/field-names.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { cannotAccess, keyLocation, keyOptions } from '../../key-client/options.js';
import { runKeyCommand } from '../../key-client/run-key-command.js';
import { formatLiveQuota } from '../../output/diff.js';
import { toIndentedJSON } from '../../output/json.js';

export const getCommand: CLICommand = {
  name: 'get',
  summary: 'Print the definition of a key, without secrets',
  description: `\`put\` accepts the output. The version and the live quota are printed to standard error. ${keyLocation}`,
  arguments: ['[KEY_ID]'],
  options: keyOptions,
  exitCodes: { 1: 'there is no such key', 2: cannotAccess },
  examples: ['keyfront get acme-billing > billing.json'],
  environment: keyVariables,
  run: get,
  errorExitCode: 2,
};

async function get(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  return runKeyCommand({ io, command: 'get', options, args }, async ({ keys, keyID }) => {
    const { definition, version, keyHash, readQuota } = await keys.read(keyID);
    const quota = await readQuota();
    io.stdout(`${toIndentedJSON(definitionToWire(definition))}\n`);
    io.stderr(
      `Version ${version} of ${printable(keyHash)}, without secrets.\nLive quota: ${formatLiveQuota(quota)}.\n`,
    );
    return 0;
  });
}
