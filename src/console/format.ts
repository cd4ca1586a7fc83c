import { text } from './strings.js';

/** An integer of the API: a number, or its digits beyond 2^53-1. */
export type Integer = number | string;

const language = 'en';
const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
const number = new Intl.NumberFormat(language, { maximumFractionDigits: 6 });

/** Formats an integer of the API with all its digits, such as 10,000. */
export function formatInteger(value: Integer): string {
  return BigInt(value).toLocaleString(language);
}

/** Formats a number, such as 0.5. */
export function formatNumber(value: number): string {
  return number.format(value);
}

/** Formats a time in the zone of the browser. A value of the API is a text, or Unix seconds. */
export function formatTime(value: string | Integer | null | undefined): string {
  if (value == null) return text.none;
  const date = toDate(value);
  return Number.isNaN(date.getTime()) ? String(value) : moment.format(date);
}

/** Reads a time of the API: RFC 3339, or Unix seconds. */
export function toDate(value: string | Integer): Date {
  return typeof value === 'string' && !/^-?\d+$/.test(value) ? new Date(value) : new Date(Number(value) * 1000);
}

/** Formats the rest of a period, such as "2 d 03:04:05". */
export function formatCountdown(seconds: number): string {
  const rest = Math.max(0, Math.floor(seconds));
  const pad = (value: number) => String(value).padStart(2, '0');
  const clock = [Math.floor((rest % 86_400) / 3600), Math.floor((rest % 3600) / 60), rest % 60].map(pad).join(':');
  return rest >= 86_400 ? `${Math.floor(rest / 86_400)} d ${clock}` : clock;
}

/** Formats any value of a definition on one line. */
export function formatValue(value: unknown): string {
  if (value == null) return text.none;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The first digits of a hash, which identify a key for people. */
export function shortHash(keyHash: string): string {
  return keyHash.slice(0, 12);
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
