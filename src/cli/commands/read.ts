import { printable } from '../../lib/printable.js';
import { definitionToWire } from '../../wire/field-names.js';
import { changeLines, changeMember } from '../output/diff.js';
import type { Values } from '../command.js';
import type { IO } from '../io.js';
import { jsonText, pretty } from '../output/json.js';
import type { HistoryEntry } from '../key-client/port.js';
import type { OutputFormat } from '../output/format.js';
import { numberFrom, runKeyCommand } from '../key-client/run-key-command.js';

/** Prints the definition of a key as `put` takes it: without secrets, which then stay as they are. */
export async function get(io: IO, values: Values, words: readonly string[]): Promise<number> {
  return runKeyCommand({ io, command: 'get', values, words }, async ({ keys, keyID }) => {
    const { definition, version, keyHash } = await keys.read(keyID);
    io.out(`${pretty(definitionToWire(definition))}\n`);
    io.say(`Version ${version} of ${printable(keyHash)}, without secrets.\n`);
    return 0;
  });
}

const largestPage = 100;

/** Prints what has been done to a key, the newest first. */
export async function history(io: IO, values: Values, words: readonly string[]): Promise<number> {
  const limit = numberFrom(values, 'limit', largestPage) ?? 20;
  return runKeyCommand({ io, command: 'history', values, words }, async ({ keys, view, keyID }) => {
    for (const entry of await keys.history(keyID, limit)) {
      io.out(view.isJSON ? `${jsonText(memberOf(entry))}\n` : linesOf(view, entry));
    }
    return 0;
  });
}

function memberOf(entry: HistoryEntry): object {
  return {
    version: entry.version,
    at: entry.at,
    operation: entry.operation,
    credential_id: entry.credentialID,
    credential_label: entry.credentialLabel,
    ...(entry.reason !== undefined && { reason: entry.reason }),
    ...(entry.requestID !== undefined && { request_id: entry.requestID }),
    ...(entry.quotaUsedBeforeReset !== undefined && { quota_used_before_reset: entry.quotaUsedBeforeReset }),
    changes: entry.changes.map(changeMember),
  };
}

function linesOf(view: OutputFormat, entry: HistoryEntry): string {
  const { paint } = view;
  const { version, at, operation, credentialID, credentialLabel, reason, quotaUsedBeforeReset, changes } = entry;
  const head = `${paint.bold(`version ${version}`)}  ${printable(at)}  ${printable(operation)}`;
  const by = `by ${printable(credentialLabel)} (${printable(credentialID)})`;
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  const reset =
    quotaUsedBeforeReset === undefined
      ? ''
      : `  ${paint.yellow('~')} live quota reset, ${quotaUsedBeforeReset.toLocaleString('en')} had been used\n`;
  return `${head}  ${paint.dim(`${by}${why}`)}\n${reset}${changeLines(view, changes)}`;
}
