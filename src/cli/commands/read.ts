import { printable } from '../../lib/text.js';
import { definitionToWire } from '../../wire/field-names.js';
import { formatChanges, changeToJSON } from '../output/diff.js';
import type { OptionValues } from '../command.js';
import type { IO } from '../io.js';
import { toJSONLine, toIndentedJSON } from '../output/json.js';
import type { KeyHistoryEntry } from '../key-client/port.js';
import type { OutputFormat } from '../output/format.js';
import { parseNumberOption, runKeyCommand } from '../key-client/run-key-command.js';

/** Prints the definition of a key as `put` takes it: without secrets, which then stay as they are. */
export async function get(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  return runKeyCommand({ io, command: 'get', values, words }, async ({ keys, keyID }) => {
    const { definition, version, keyHash } = await keys.read(keyID);
    io.stdout(`${toIndentedJSON(definitionToWire(definition))}\n`);
    io.stderr(`Version ${version} of ${printable(keyHash)}, without secrets.\n`);
    return 0;
  });
}

const largestPage = 100;

/** Prints what has been done to a key, the newest first. */
export async function history(io: IO, values: OptionValues, words: readonly string[]): Promise<number> {
  const limit = parseNumberOption(values, 'limit', largestPage) ?? 20;
  return runKeyCommand({ io, command: 'history', values, words }, async ({ keys, view, keyID }) => {
    for (const entry of await keys.history(keyID, limit)) {
      io.stdout(view.isJSON ? `${toJSONLine(memberOf(entry))}\n` : linesOf(view, entry));
    }
    return 0;
  });
}

function memberOf(entry: KeyHistoryEntry): object {
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

function linesOf(view: OutputFormat, entry: KeyHistoryEntry): string {
  const { paint } = view;
  const { version, at, operation, credentialID, credentialLabel, reason, quotaUsedBeforeReset, changes } = entry;
  const head = `${paint.bold(`version ${version}`)}  ${printable(at)}  ${printable(operation)}`;
  const by = `by ${printable(credentialLabel)} (${printable(credentialID)})`;
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  const reset =
    quotaUsedBeforeReset === undefined
      ? ''
      : `  ${paint.yellow('~')} live quota reset, ${quotaUsedBeforeReset.toLocaleString('en')} had been used\n`;
  return `${head}  ${paint.dim(`${by}${why}`)}\n${reset}${formatChanges(view, changes)}`;
}
