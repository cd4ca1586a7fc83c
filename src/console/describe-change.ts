import type { ChangeFragment } from '../client/client.js';
import { fieldAt, labelOf, labelOfPath, segmentsOf } from './fields.js';
import {
  formatDuration,
  formatInteger,
  formatNumber,
  formatQuota,
  formatRate,
  formatTime,
  formatValue,
  type Integer,
} from './format.js';
import type { FormField } from './form-field.js';

type Change = Omit<ChangeFragment, 'segments'>;

/** One changed field in words. Of a list, `before` has what was removed and `after` what was added. */
export interface ChangeLine {
  readonly path: string;
  readonly label: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly note?: string | undefined;
}

const notes: Partial<Record<Change['kind'], string>> = {
  SET: 'secret set',
  CLEARED: 'secret removed',
  NOT_COMPARED: 'secret sent; it may be the same',
};

/**
 * Describes the changed fields in the words and units of the console. A rate and its period make one line, and so do
 * the access rights that were added or removed.
 */
export function describeChanges(changes: readonly Change[]): ChangeLine[] {
  const find = (path: string) => changes.find((change) => change.path === path);
  const [rate, per] = [find('rate'), find('per')];
  const [max, period] = [find('quotaMax'), find('quotaRenewalRate')];
  const rights = changes.filter(isWholeRight);
  return changes.flatMap((change): ChangeLine[] => {
    if (isWholeRight(change)) return change === rights[0] ? [wholeRights(rights)] : [];
    if (change === per && rate) return [];
    if (change === period && max) return [];
    if (change === rate && per) return [paired(change, per, formatRate as Pair)];
    if (change === max && period) return [paired(change, period, formatQuota as Pair)];
    return [describe(change)];
  });
}

type Pair = (value: unknown, period: unknown) => string;

function paired(change: Change, period: Change, format: Pair): ChangeLine {
  return {
    path: change.path,
    label: labelOf(change.path),
    before: [format(change.before, period.before)],
    after: [format(change.after, period.after)],
  };
}

function describe({ path, kind, before, after }: Change): ChangeLine {
  const line = { path, label: labelOfPath(path) };
  const note = notes[kind];
  const field = fieldAt(path);
  if (note !== undefined || field?.isSecret === true) {
    return { ...line, before: [], after: [], note: note ?? 'secret changed' };
  }
  if (Array.isArray(before) || Array.isArray(after)) {
    const [removed, added] = [itemsOf(before), itemsOf(after)];
    const only = (items: readonly string[], others: readonly string[]) =>
      items.filter((item) => !others.includes(item));
    const [gone, come] = [only(removed, added), only(added, removed)];
    const isReordered = gone.length + come.length === 0;
    return { ...line, before: gone, after: come, ...(isReordered && { note: 'other order' }) };
  }
  if (field?.name === 'isInactive') {
    return { ...line, before: [formatField(field, before)], after: [formatField(field, after)] };
  }
  return {
    ...line,
    before: before == null ? [] : [formatField(field, before)],
    after: after == null ? [] : [formatField(field, after)],
    ...(after == null && { note: 'removed' }),
  };
}

/** Whether a change adds or removes an access right, or all of a key. */
function isWholeRight({ path }: Change): boolean {
  const segments = segmentsOf(path);
  return segments[0] === 'accessRights' && segments.length <= 2;
}

/** Access rights that were added or removed: their labels say enough. */
function wholeRights(changes: readonly Change[]): ChangeLine {
  const labels = (which: 'before' | 'after') =>
    changes.flatMap(({ path, [which]: value }) => (value == null ? [] : (segmentsOf(path)[1] ?? labelsOf(value))));
  return {
    path: 'accessRights',
    label: labelOf('accessRights'),
    before: labels('before'),
    after: labels('after'),
  };
}

/** The labels of a list of access rights, or of an object of them by label, which the history has. */
function labelsOf(rights: unknown): string[] {
  return Array.isArray(rights) || typeof rights !== 'object' || rights === null ? itemsOf(rights) : Object.keys(rights);
}

function itemsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(nameOfItem) : [];
}

/** An entry of a list: its label if it is an access right. */
function nameOfItem(item: unknown): string {
  const label = typeof item === 'object' && item !== null && 'label' in item ? item.label : undefined;
  return typeof label === 'string' ? label : formatValue(item);
}

/** Formats the value of a field in its unit. */
export function formatField(field: FormField | undefined, value: unknown): string {
  if (field?.name === 'isInactive') return value === true ? 'Inactive' : 'Active';
  if (value == null) return 'not set';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return itemsOf(value).join(', ');
  if (field?.unit === 'Unix seconds') return Number(value) < 1 ? 'never' : formatTime(value as Integer);
  if (field?.unit === 'seconds') return Number(value) > 0 ? formatDuration(value as Integer) : 'off';
  if (field?.type === 'KeyDateTime') return formatTime(value as string);
  if (value === -1 && field?.type !== undefined) return 'no limit';
  const shown = formatScalar(field, value);
  return field?.unit === 'percent' ? `${shown} %` : shown;
}

function formatScalar(field: FormField | undefined, value: unknown): string {
  if (field?.type === 'Int64' && (typeof value === 'number' || typeof value === 'string')) return formatInteger(value);
  return typeof value === 'number' ? formatNumber(value) : formatValue(value);
}
