import { text } from './strings.js';

/** An integer of the API: a number, or its digits beyond 2^53-1. */
export type Integer = number | string;

const language = 'en';
const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
const exactMoment = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
const utcDay = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
const number = new Intl.NumberFormat(language, { maximumFractionDigits: 6 });
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
const list = new Intl.ListFormat(language);

/** Formats an integer of the API with all its digits, such as 10,000. */
export function formatInteger(value: Integer): string {
  return BigInt(value).toLocaleString(language);
}

/** Formats a number, such as 0.5. */
export function formatNumber(value: number): string {
  return number.format(value);
}

/** Formats a count with its noun, such as "1 key" and "12 keys". */
export function formatCount(count: Integer, noun: string, nouns = `${noun}s`): string {
  return `${formatInteger(count)} ${BigInt(count) === 1n ? noun : nouns}`;
}

/** Formats a list as part of a sentence. */
export function formatList(items: readonly string[]): string {
  return list.format(items);
}

/** Reads a time of the API: RFC 3339, or Unix seconds. */
export function toDate(value: string | Integer): Date {
  return typeof value === 'string' && !/^-?\d+$/.test(value) ? new Date(value) : new Date(Number(value) * 1000);
}

function formatDate(format: Intl.DateTimeFormat, value: string | Integer | null | undefined): string {
  if (value == null) return text.none;
  const date = toDate(value);
  return Number.isNaN(date.getTime()) ? String(value) : format.format(date);
}

/** Formats a time in the zone of the browser. A value of the API is a text, or Unix seconds. */
export function formatTime(value: string | Integer | null | undefined): string {
  return formatDate(moment, value);
}

/** Formats a time with its seconds and its zone. */
export function formatExactTime(value: string | Integer): string {
  return formatDate(exactMoment, value);
}

/** Formats the day of a time. */
export function formatDay(value: string | Integer): string {
  return formatDate(day, value);
}

/** Formats the day of a time in UTC. */
export function formatUTCDay(value: string | Integer): string {
  return formatDate(utcDay, value);
}

const periods = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Formats a time from now, such as "in 6 days", "yesterday" or "2 hours ago". */
export function formatRelative(value: string | Integer, now = Date.now()): string {
  const date = toDate(value);
  if (Number.isNaN(date.getTime())) return String(value);
  const seconds = (date.getTime() - now) / 1000;
  if (Math.abs(seconds) < 45) return seconds < 0 ? 'just now' : 'in a moment';
  const [unit, size] = periods.find(([, length]) => Math.abs(seconds) >= length * 0.95) ?? ['minute', 60];
  return relative.format(Math.round(seconds / size), unit);
}

const durations = [
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Formats a duration in seconds in the largest unit that divides it, such as "30 days", "hour" or "90 seconds". */
export function formatDuration(seconds: Integer): string {
  const length = Number(seconds);
  const [unit, size] =
    length === 0 ? (['second', 1] as const) : (durations.find(([, size]) => length % size === 0) ?? ['second', 1]);
  const count = length / size;
  return count === 1 ? unit : `${number.format(count)} ${unit}s`;
}

/** Formats a rate limit, such as "200 per minute". It is off without a period. */
export function formatRate(rate: number | null | undefined, per: number | null | undefined): string {
  if (rate == null || rate < 0) return 'no limit';
  if (per == null || per <= 0) return `${formatNumber(rate)}, off without a period`;
  return `${formatNumber(rate)} per ${formatDuration(per)}`;
}

/** Formats the limit of a quota, such as "10,000 per 30 days". */
export function formatQuota(max: Integer | null | undefined, period: Integer | null | undefined): string {
  if (max == null || Number(max) <= 0) return 'no limit';
  const renews = period != null && Number(period) > 0;
  return renews ? `${formatInteger(max)} per ${formatDuration(period)}` : `${formatInteger(max)} in total`;
}

/** Formats any value of a definition on one line. */
export function formatValue(value: unknown): string {
  if (value == null) return text.none;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The first digits of a hash, which identify a key for people. */
export function shortHash(keyHash: string): string {
  return keyHash.slice(0, 8);
}

/** The displayed name of a key: its alias, or the beginning of its hash. Its identifier may be a secret. */
export function nameOf(key: {
  readonly keyHash: string;
  readonly definition: { readonly alias: string | null } | null;
}): string {
  return key.definition?.alias || text.unnamed(shortHash(key.keyHash));
}

/** The share of the quota that is used, from 0 to 1; undefined if it is unlimited. */
export function usedShare({ max, used }: { readonly max: Integer | null; readonly used: Integer }): number | undefined {
  if (max === null) return undefined;
  return Number(max) <= 0 ? 1 : Math.min(1, Number(used) / Number(max));
}

/** Reads a field of a submitted form, without surrounding white space. */
export function formText(form: EventTarget | null, name: string): string {
  const value = form instanceof HTMLFormElement ? new FormData(form).get(name) : null;
  return typeof value === 'string' ? value.trim() : '';
}
