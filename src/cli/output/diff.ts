import { pathText } from '../../lib/errors.js';
import type { JSONValue } from '../../lib/json.js';
import type { FieldChange } from '../../keys/key.js';
import type { QuotaFigures } from '../../keys/quota/quota.js';
import { printable } from '../../lib/text.js';
import { issuesToWire, partToWire } from '../../wire/field-names.js';
import { toJSONLine } from './json.js';
import type { KeyChangeResult } from '../key-client/port.js';
import { formatProblems, type Problem, type OutputFormat } from './format.js';

/** From this length on a value is cut, in what people read. */
const longestValue = 160;

/** A change in the names of REST, for programs. */
export function changeToJSON({ path, kind, before, after }: FieldChange): object {
  const part = partToWire(path);
  return {
    path: pathText(part.path),
    kind,
    ...(before !== undefined && { before: part.valueToWire(before) }),
    ...(after !== undefined && { after: part.valueToWire(after) }),
  };
}

/** A line for each change: `~ rate  100 → 200`. */
export function formatChanges({ paint }: OutputFormat, changes: readonly FieldChange[]): string {
  return changes
    .map(({ path, kind, before, after }) => {
      const part = partToWire(path);
      const name = paint.bold(printable(pathText(part.path)));
      const [was, is] = [before, after].map((value) => shortText(part.valueToWire(value)));
      if (before === undefined && after === undefined) {
        return `  ${paint.yellow('*')} ${name}  secret ${secretWords[kind] ?? 'differs'}\n`;
      }
      if (before === undefined) return `  ${paint.green('+')} ${name}  ${paint.green(is ?? '')}\n`;
      if (after === undefined) return `  ${paint.red('-')} ${name}  ${paint.red(was ?? '')}\n`;
      return `  ${paint.yellow('~')} ${name}  ${paint.red(was ?? '')} → ${paint.green(is ?? '')}\n`;
    })
    .join('');
}

const secretWords: Readonly<Record<string, string>> = { SET: 'set', CHANGED: 'changed', CLEARED: 'cleared' };

/** Warnings about a definition, in the names of REST; `body` is what it was read from. */
export function warningsToWire({ warnings }: Pick<KeyChangeResult, 'warnings'>, body: JSONValue): Problem[] {
  return issuesToWire(warnings, body).map(({ path, code, message }) => ({ path: pathText(path), code, message }));
}

/** Whether anything but the version is, or would be, other than before. */
export function hasNoEffect({ changes, quotaEffect }: KeyChangeResult): boolean {
  const [before, after] = [quotaEffect?.before, quotaEffect?.after].map(
    (quota) => quota && toJSONLine(quotaToJSON(quota)),
  );
  return changes.length === 0 && before === after;
}

/** What a change did, or would do, for programs. */
export function changeResultToJSON(changed: KeyChangeResult, body: JSONValue): object {
  const { keyHash, version, changes, quotaEffect, quotaReset } = changed;
  return {
    key_hash: keyHash,
    version,
    changes: changes.map(changeToJSON),
    quota: quotaEffect ? { before: quotaToJSON(quotaEffect.before), after: quotaToJSON(quotaEffect.after) } : null,
    ...(quotaReset === 'PENDING' && { quota_reset: 'pending' }),
    warnings: warningsToWire(changed, body),
  };
}

/** The same for people. */
export function formatChangeResult(view: OutputFormat, changed: KeyChangeResult, body: JSONValue): string {
  const { changes, quotaEffect, quotaReset } = changed;
  const [before, after] = [quotaEffect?.before, quotaEffect?.after].map((quota) => quota && quotaText(quota));
  const effect = before === undefined || after === undefined ? 'cannot be read' : `${before} → ${after}`;
  const words = quotaReset === 'PENDING' ? 'begins anew as soon as it can be reached' : effect;
  const isSilent = quotaEffect !== undefined && before === after && quotaReset !== 'PENDING';
  const quota = isSilent ? '' : `  ${view.paint.yellow('~')} live quota: ${words}\n`;
  const warnings = formatProblems(view, 'warning', warningsToWire(changed, body));
  return `${formatChanges(view, changes)}${quota}${warnings}`;
}

/** The live quota in the form that REST answers. */
export function quotaToJSON({ max, used, remaining, renewsAt }: QuotaFigures): object {
  return {
    used,
    remaining: remaining ?? -1n,
    quota_max: max ?? -1n,
    ...(renewsAt !== undefined && { renews_at: renewsAt }),
  };
}

function quotaText({ max, used, renewsAt }: QuotaFigures): string {
  const figure = (count: bigint) => count.toLocaleString('en');
  const renews = renewsAt === undefined ? '' : `, renews at ${momentText(renewsAt)}`;
  return `${figure(used)} used of ${max === undefined ? 'unlimited' : figure(max)}${renews}`;
}

function momentText(seconds: bigint): string {
  const milliseconds = Number(seconds) * 1000;
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : `Unix second ${seconds}`;
}

function shortText(value: unknown): string {
  if (value === undefined) return '';
  const text = toJSONLine(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`;
}
