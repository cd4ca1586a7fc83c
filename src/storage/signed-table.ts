import { AppError } from '../errors.js';
import type { Authenticity } from './authenticity.js';

/** A row as it is stored: what it says, and the signature of that. */
export type Signed<Row> = Row & { readonly mac: Uint8Array };

/** Signs the rows of a table, and knows them again. */
export interface SignedTable<Row> {
  readonly signed: (row: Row) => Signed<Row>;
  readonly isAuthentic: (row: Signed<Row>) => boolean;
}

/** Over the given columns of the table: all that an answer is made of. */
export function createSignedTable<Row extends object>(
  { sign, isAuthentic }: Authenticity,
  table: string,
  columns: readonly (keyof Row)[],
): SignedTable<Row> {
  const contentOf = (row: Row) => columns.reduce((content, column) => `${content}|${formOf(row[column])}`, table);
  return {
    signed: (row) => ({ ...row, mac: sign(contentOf(row)) }),
    // A row from before there were signatures has none, and a damaged one may have anything.
    isAuthentic: (row) => (row.mac as unknown) instanceof Uint8Array && isAuthentic(contentOf(row), row.mac),
  };
}

/** No two values have the same form, and none ends where another goes on. */
function formOf(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'bigint') return `i${value}`;
  if (typeof value === 'string') return `t${value.length}:${value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  // A damaged row may hold a kind of value that no column takes, and that nothing was ever signed for.
  return '?';
}

/** What is thrown in place of an answer that would be made of rows that are not as we wrote them. It is for the log. */
export function damaged(what: string): AppError {
  // A damaged name may be anything.
  const name = what.replace(/[^\x20-\x7e]/g, '?').slice(0, 100);
  return new AppError('INTERNAL', `${name} is not as it was written; \`keyfront check\` tells more.`);
}
