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
