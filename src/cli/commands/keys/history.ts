import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { cannotAccess, keyLocation, keyOptions } from '../../key-client/options.js';
import { parseNumberOption, runKeyCommand } from '../../key-client/run-key-command.js';
import { formatHistoryEntry, historyEntryToJSON } from '../../output/history.js';
import { toJSONLine } from '../../output/json.js';

const defaultLimit = 20;
const maxLimit = 100;

export const historyCommand: CLICommand = {
  name: 'history',
  summary: 'List the changes of a key, newest first',
  description: keyLocation,
  arguments: ['[KEY_ID]'],
  options: {
    limit: { value: 'N', description: `Maximum number of entries, up to ${maxLimit} (default ${defaultLimit})` },
    ...keyOptions,
  },
  exitCodes: { 1: 'there is no such key', 2: cannotAccess },
  examples: ['keyfront history acme-billing --limit 5'],
  environment: keyVariables,
  run: history,
  errorExitCode: 2,
};

async function history(io: IO, options: OptionValues, args: readonly string[]): Promise<number> {
  const limit = parseNumberOption(options, 'limit', maxLimit) ?? defaultLimit;
  return runKeyCommand({ io, command: 'history', options, args }, async ({ keys, format, keyID }) => {
    for (const entry of await keys.history(keyID, limit)) {
      io.stdout(format.isJSON ? `${toJSONLine(historyEntryToJSON(entry))}\n` : formatHistoryEntry(format, entry));
    }
    return 0;
  });
}
