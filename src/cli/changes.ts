import { fieldsWith } from '../keys/definition/schema.js';
import type { Actor, FieldChange } from '../keys/key.js';
import type { QuotaFigures } from '../keys/quota/quota.js';
import { pathText } from '../lib/errors.js';
import type { JSONValue } from '../lib/json.js';
import { printable } from '../lib/text.js';
import { issuesToWire, partToWire } from '../wire/field-names.js';
import { noticeToWire, noticeTypes } from '../wire/notice.js';
import type { FollowedNotice, KeyChangeResult, LiveQuota, KeyHistoryEntry } from './client/operations.js';
import type { IO } from './io.js';
import { formatProblems, type OutputFormat, type Problem, toJSONLine } from './output.js';

/** Text output truncates longer values. */
const maxValueLength = 160;

const shortHashLength = 12;

/** The beginning of a hash, which people read and commands accept where a hash is expected. */
export function shortHash(keyHash: string): string {
  return printable(keyHash.slice(0, shortHashLength));
}

/** Converts a change to JSON in the names of REST. */
export function changeToJSON({ path, kind, before, after }: FieldChange): object {
  const part = partToWire(path);
  return {
    path: pathText(part.path),
    kind,
    ...(before !== undefined && { before: part.valueToWire(before) }),
    ...(after !== undefined && { after: part.valueToWire(after) }),
  };
}

/** Formats each change as a line: `~ rate  100 → 200`. */
export function formatChanges({ paint }: OutputFormat, changes: readonly FieldChange[]): string {
  return changes
    .map(({ path, kind, before, after }) => {
      const part = partToWire(path);
      const name = paint.bold(printable(pathText(part.path)));
      const format = timeFields.has(path.join('.')) ? toTimeText : toShortText;
      const [oldText, newText] = [before, after].map((value) => format(part.valueToWire(value)));
      if (before === undefined && after === undefined) {
        return `  ${paint.yellow('*')} ${name}  secret ${secretChanges[kind] ?? 'differs'}\n`;
      }
      if (before === undefined) return `  ${paint.green('+')} ${name}  ${paint.green(newText ?? '')}\n`;
      if (after === undefined) return `  ${paint.red('-')} ${name}  ${paint.red(oldText ?? '')}\n`;
      return `  ${paint.yellow('~')} ${name}  ${paint.red(oldText ?? '')} → ${paint.green(newText ?? '')}\n`;
    })
    .join('');
}

/** The paths of fields that contain Unix seconds. */
const timeFields: ReadonlySet<string> = new Set(fieldsWith(({ unit }) => unit === 'Unix seconds'));

/** Formats Unix seconds as such and as a date: `1893456000 (2030-01-01T00:00:00.000Z)`. */
function toTimeText(value: unknown): string {
  const text = toShortText(value);
  return /^[1-9]\d*$/.test(text) ? `${text} (${formatUnixTime(BigInt(text))})` : text;
}

const secretChanges: Readonly<Record<string, string>> = {
  SET: 'set',
  CHANGED: 'changed',
  CLEARED: 'cleared',
  NOT_COMPARED: 'not compared: it may be the same',
};

/** Omits the removal of fields that a reset has stored: a reset does not make the definition in a file outdated. */
export function withoutResetFields(result: KeyChangeResult): KeyChangeResult {
  const changes = result.changes.filter((change) => !isRemovalOfReset(change, result));
  const isChanged = !hasNoEffect({ ...result, changes });
  // The prediction counts a version for the changes that are omitted here.
  const version = result.isChanged && !isChanged ? result.version - 1 : result.version;
  return { ...result, changes, isChanged, version };
}

/** Whether a change removes a value that a reset has stored: the end of a period, or a remainder at the maximum. */
function isRemovalOfReset({ kind, path, before }: FieldChange, { quotaEffect }: KeyChangeResult): boolean {
  if (kind !== 'REMOVED') return false;
  if (path[0] === 'quotaRenews') return true;
  return path[0] === 'quotaRemaining' && (!quotaEffect || String(before) === String(quotaEffect.before.max ?? -1n));
}

/** Whether the change has no effect except for the version. */
export function hasNoEffect({ changes, quotaEffect }: Pick<KeyChangeResult, 'changes' | 'quotaEffect'>): boolean {
  const [before, after] = [quotaEffect?.before, quotaEffect?.after].map(
    (quota) => quota && toJSONLine(quotaToJSON(quota)),
  );
  return changes.length === 0 && before === after;
}

/** Converts the result of a change to JSON. `body` is the definition as the caller wrote it. */
export function changeResultToJSON(result: KeyChangeResult, body: JSONValue): object {
  const { keyHash, version, isChanged, changes, quotaEffect, quotaReset } = result;
  return {
    key_hash: keyHash,
    version,
    changed: isChanged,
    changes: changes.map(changeToJSON),
    quota: quotaEffect ? { before: quotaToJSON(quotaEffect.before), after: quotaToJSON(quotaEffect.after) } : null,
    ...(quotaReset === 'PENDING' && { quota_reset: 'pending' }),
    warnings: warningsToWire(result, body),
  };
}

/** Formats the result of a change as text. `body` is the definition as the caller wrote it. */
export function formatChangeResult(format: OutputFormat, result: KeyChangeResult, body: JSONValue): string {
  return `${formatChanges(format, result.changes)}${formatQuotaEffect(format, result)}${formatWarnings(format, result, body)}`;
}

/** Formats the warnings about the definition that was sent. `body` is the definition as the caller wrote it. */
export function formatWarnings(format: OutputFormat, result: KeyChangeResult, body: JSONValue): string {
  return formatProblems(format, 'warning', warningsToWire(result, body));
}

/** The line for each kind of change, in the names of REST. */
const summaries = {
  added: (version: number) => `Created (version ${version}).`,
  modified: (version: number) => `Updated to version ${version}.`,
  deleted: (version: number) => `Deleted (version ${version}).`,
  restored: (version: number) => `Restored (version ${version}).`,
  rotation_canceled: (version: number) => `Canceled the rotation (version ${version}).`,
};

interface PrintedChange {
  readonly action: keyof typeof summaries;
  readonly result: KeyChangeResult;
  /** The definition as the caller wrote it; null if the command takes none. */
  readonly body: JSONValue;
}

/** Prints a change that was made, and the new version. */
export function printChange(io: IO, format: OutputFormat, { action, result, body }: PrintedChange): void {
  if (format.isJSON) {
    io.stdout(`${toJSONLine({ action, ...changeResultToJSON(result, body) })}\n`);
    return;
  }
  const summary = result.isChanged
    ? format.paint.green(summaries[action](result.version))
    : `No changes (version ${result.version}).`;
  io.stdout(`${formatChangeResult(format, result, body)}${summary}\n`);
}

function warningsToWire({ warnings }: Pick<KeyChangeResult, 'warnings'>, body: JSONValue): Problem[] {
  return issuesToWire(warnings, body).map(({ path, code, message }) => ({ path: pathText(path), code, message }));
}

function formatQuotaEffect({ paint }: OutputFormat, { quotaEffect, quotaReset }: KeyChangeResult): string {
  const [before, after] = [quotaEffect?.before, quotaEffect?.after].map((quota) => quota && formatQuota(quota));
  const isUnchanged = quotaEffect !== undefined && before === after && quotaReset !== 'PENDING';
  if (isUnchanged) return '';
  const effect = before === undefined || after === undefined ? 'cannot be read' : `${before} → ${after}`;
  const text = quotaReset === 'PENDING' ? 'is reset as soon as the counter is reachable' : effect;
  return `  ${paint.yellow('~')} live quota: ${text}\n`;
}

/** Converts the live quota to the JSON that REST returns. */
function quotaToJSON({ max, used, remaining, renewsAt }: QuotaFigures): object {
  return {
    used,
    remaining: remaining ?? -1n,
    quota_max: max ?? -1n,
    ...(renewsAt !== undefined && { renews_at: renewsAt }),
  };
}

/** Converts the live quota of a key to JSON; an unlimited one has no `remaining`. */
export function liveQuotaToJSON({ used, remaining, renewsAt }: LiveQuota): object {
  return {
    used,
    ...(remaining !== undefined && { remaining }),
    ...(renewsAt !== undefined && { renews_at: renewsAt }),
  };
}

/** Formats the live quota of a key: `1,880 used, 8,120 remaining`. */
export function formatLiveQuota(quota: LiveQuota | undefined): string {
  if (!quota) return 'cannot be reached';
  const { used, remaining, renewsAt } = quota;
  const rest = remaining === undefined ? 'unlimited' : `${remaining.toLocaleString('en')} remaining`;
  return `${used.toLocaleString('en')} used, ${rest}${formatRenewal(renewsAt)}`;
}

function formatRenewal(renewsAt: bigint | undefined): string {
  return renewsAt === undefined ? '' : `, renews at ${formatUnixTime(renewsAt)}`;
}

function formatQuota({ max, used, renewsAt }: QuotaFigures): string {
  const format = (count: bigint) => count.toLocaleString('en');
  return `${format(used)} used of ${max === undefined ? 'unlimited' : format(max)}${formatRenewal(renewsAt)}`;
}

/** Formats Unix seconds as a date. */
export function formatUnixTime(seconds: bigint): string {
  const milliseconds = Number(seconds) * 1000;
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : `Unix second ${seconds}`;
}

function toShortText(value: unknown): string {
  if (value === undefined) return '';
  const text = toJSONLine(value);
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength - 1)}…`;
}

export function actorToJSON({ credentialID, label, client, assertedName }: Actor): object {
  return {
    credential_id: credentialID,
    label,
    ...(client !== undefined && { client }),
    ...(assertedName !== undefined && { asserted_name: assertedName }),
  };
}

/**
 * Formats an actor: `dashboard (cred_1)`, `Ana, asserted by dashboard (cred_1)`, or for a person who has signed on
 * `Ana (oidc:7f3a) by console`.
 */
export function formatActor({ credentialID, label, client, assertedName }: Actor): string {
  const name = assertedName === undefined ? '' : `${printable(assertedName)}, asserted by `;
  const application = client === undefined ? '' : ` by ${printable(client)}`;
  return `${name}${printable(label)} (${printable(credentialID)})${application}`;
}

/** Converts an entry of a history to JSON in the names of REST. */
export function historyEntryToJSON(entry: KeyHistoryEntry): object {
  return {
    version: entry.version,
    at: entry.at,
    operation: entry.operation,
    ...(entry.revertedTo !== undefined && { reverted_to: entry.revertedTo }),
    actor: actorToJSON(entry.actor),
    ...(entry.proposalID !== undefined && { proposal_id: entry.proposalID }),
    ...(entry.approvedBy && { approved_by: actorToJSON(entry.approvedBy) }),
    ...(entry.reason !== undefined && { reason: entry.reason }),
    ...(entry.requestID !== undefined && { request_id: entry.requestID }),
    ...(entry.quotaUsedBeforeReset !== undefined && { quota_used_before_reset: entry.quotaUsedBeforeReset }),
    changes: entry.changes.map(changeToJSON),
  };
}

/** Converts a notice to JSON in the names of REST and of webhooks. */
export function noticeToJSON(notice: FollowedNotice): object {
  return { event: noticeTypes[notice.kind], event_id: notice.id, at: notice.at, ...noticeToWire(notice) };
}

/** Formats a notice as one line. */
export function formatNotice({ paint }: OutputFormat, notice: FollowedNotice): string {
  const { kind, at, version, expires, daysBefore, threshold, quotaUsed, quotaMax, quotaRenewsAt, proposalID } = notice;
  const facts = [
    expires !== undefined && `expires ${formatUnixTime(expires)}`,
    daysBefore !== undefined && `${daysBefore} days before`,
    threshold !== undefined && `${threshold} %`,
    quotaUsed !== undefined && quotaMax !== undefined && `${quotaUsed} of ${quotaMax} used`,
    quotaRenewsAt !== undefined && `renews ${formatUnixTime(quotaRenewsAt)}`,
    proposalID !== undefined && printable(proposalID),
  ].filter((fact) => fact !== false);
  const heading = `${paint.bold(`version ${version}`)}  ${printable(at)}  ${paint.yellow(noticeTypes[kind])}`;
  return `${heading}${facts.length > 0 ? `  ${facts.join(', ')}` : ''}\n`;
}

/** Formats an entry of a history as a heading and a line for each change. */
export function formatHistoryEntry(format: OutputFormat, entry: KeyHistoryEntry): string {
  const { paint } = format;
  const { version, at, operation, revertedTo, actor, quotaUsedBeforeReset, changes } = entry;
  const done = revertedTo === undefined ? operation : `${operation} to version ${revertedTo}`;
  const heading = `${paint.bold(`version ${version}`)}  ${printable(at)}  ${printable(done)}`;
  const reason = entry.reason === undefined ? '' : `: ${printable(entry.reason)}`;
  const approved = entry.approvedBy ? `, approved by ${formatActor(entry.approvedBy)}` : '';
  const reset =
    quotaUsedBeforeReset === undefined
      ? ''
      : `  ${paint.yellow('~')} live quota reset, ${quotaUsedBeforeReset.toLocaleString('en')} used before\n`;
  return `${heading}  ${paint.dim(`by ${formatActor(actor)}${approved}${reason}`)}\n${reset}${formatChanges(format, changes)}`;
}
