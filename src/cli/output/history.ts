import { printable } from '../../lib/text.js';
import type { KeyHistoryEntry } from '../key-client/port.js';
import { changeToJSON, formatChanges } from './diff.js';
import type { OutputFormat } from './format.js';

/** Converts an entry of a history to JSON in the names of REST. */
export function historyEntryToJSON(entry: KeyHistoryEntry): object {
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

/** Formats an entry of a history as a heading and a line for each change. */
export function formatHistoryEntry(format: OutputFormat, entry: KeyHistoryEntry): string {
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
