import type { OptionValues } from './command.js';
import { UsageError } from './io.js';

/** The option `--csv`. */
export const csvOption = { description: 'Print the result as CSV' };

/** Whether `--csv` is given. @throws {UsageError} together with `--json` */
export function csvFrom(options: OptionValues): boolean {
  if (options['csv'] === true && options['json'] === true) throw new UsageError('Specify --csv or --json, not both.');
  return options['csv'] === true;
}

/** Formats rows as CSV (RFC 4180), one line each. */
export function toCSV(rows: readonly (readonly (string | bigint | number)[])[]): string {
  return rows.map((row) => `${row.map(toCell).join(',')}\r\n`).join('');
}

/** Spreadsheets run a text that begins so as a formula. */
const formula = /^[=+\-@\t\r]/;

function toCell(value: string | bigint | number): string {
  if (typeof value !== 'string') return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
