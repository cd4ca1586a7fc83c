import { printable } from '../../../lib/text.js';
import type { CLICommand, OptionValues } from '../../command.js';
import { keyVariables } from '../../environment.js';
import type { IO } from '../../io.js';
import { cannotAccess, keyLocation, keyOptions } from '../../key-client/options.js';
import type { KeyHistoryEntry } from '../../key-client/port.js';
import { parseNumberOption, runKeyCommand } from '../../key-client/run-key-command.js';
import { changeToJSON, formatChanges } from '../../output/diff.js';
import type { OutputFormat } from '../../output/format.js';
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
      io.stdout(format.isJSON ? `${toJSONLine(toJSONObject(entry))}\n` : toLines(format, entry));
    }
    return 0;
  });
}

function toJSONObject(entry: KeyHistoryEntry): object {
  return {
    version: entry.version,
    at: entry.at,
    operation: entry.operation,
    credential_id: entry.credentialID,
    credential_label: entry.credentialLabel,
    ...(entry.reason !== undefined && { reason: entry.reason }),
    ...(entry.requestID !== undefined && { request_id: entry.requestID }),
    ...(entry.quotaUsedBeforeReset !== undefined && { quota_used_before_reset: entry.quotaUsedBeforeReset }),
    changes: entry.changes.map(changeToJSON),
  };
}

function toLines(format: OutputFormat, entry: KeyHistoryEntry): string {
  const { paint } = format;
  const { version, at, operation, credentialID, credentialLabel, quotaUsedBeforeReset, changes } = entry;
  const heading = `${paint.bold(`version ${version}`)}  ${printable(at)}  ${printable(operation)}`;
  const principal = `by ${printable(credentialLabel)} (${printable(credentialID)})`;
  const reason = entry.reason === undefined ? '' : `: ${printable(entry.reason)}`;
  const reset =
    quotaUsedBeforeReset === undefined
      ? ''
      : `  ${paint.yellow('~')} live quota reset, ${quotaUsedBeforeReset.toLocaleString('en')} used before\n`;
  return `${heading}  ${paint.dim(`${principal}${reason}`)}\n${reset}${formatChanges(format, changes)}`;
}
