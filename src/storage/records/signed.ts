import { AppError } from '../../lib/errors.js';
import { printable } from '../../lib/text.js';
import type { RowSigner } from '../../crypto/row-signer.js';

/** The values of columns, by their types. */
interface ColumnValues {
  readonly text: string;
  readonly integer: bigint;
  readonly bytes: Uint8Array;
}

type ColumnType = keyof ColumnValues;

/** The columns of a table in their order, with their types. Those of a type with `?` may be NULL. */
export type Columns = Readonly<Record<string, ColumnType | `${ColumnType}?`>>;

/** A row with these columns. */
export type RowOf<Of extends Columns> = {
  -readonly [Name in keyof Of]: Of[Name] extends `${infer Type extends ColumnType}?`
    ? ColumnValues[Type] | null
    : Of[Name] extends ColumnType
      ? ColumnValues[Of[Name]]
      : never;
};

/** Returns the names of columns, in their order. */
export function namesOf<Of extends Columns>(columns: Of): readonly (keyof Of & string)[] {
  return Object.keys(columns);
}

/** Returns the date of a column with Unix milliseconds; undefined for NULL. */
export function dateOf(milliseconds: bigint | null): Date | undefined {
  return milliseconds === null ? undefined : new Date(Number(milliseconds));
}

/** Returns the value of a column for a date in Unix milliseconds; NULL for undefined. */
export function millisecondsOf(date: Date | undefined): bigint | null {
  return date === undefined ? null : BigInt(date.getTime());
}

/** A row as it is stored: its columns, and one byte of layout number with the signature over both. */
export type SignedRow<Row> = Row & { readonly mac: Uint8Array };

/** Whether two rows are the same: a signature covers all of a row. */
export function isSameRow(a: Pick<SignedRow<object>, 'mac'>, b: Pick<SignedRow<object>, 'mac'>): boolean {
  return Buffer.compare(a.mac, b.mac) === 0;
}

/**
 * The ordered columns that signatures of a table cover, one list for each layout, the first of which is layout 1. To add
 * a column, append a list: rows of earlier layouts stay valid as long as the columns that these lack are NULL. A row is
 * signed in the oldest layout that covers its values, so that processes of an earlier version verify it too.
 */
export type Layouts<Row> = readonly (readonly (keyof Row)[])[];

/** A table of signed rows. */
export interface TableDefinition<Row> {
  /** Signatures include the name, so that a row of one table is no row of another. */
  readonly name: string;
  /** All columns, of which the last is the signature. */
  readonly columns: Columns;
  readonly columnNames: readonly (keyof SignedRow<Row>)[];
  readonly layouts: Layouts<Row>;
}

/** Defines a table by the columns of each layout, the newest last. */
export function defineTable<Row>(name: string, ...layouts: readonly Columns[]): TableDefinition<Row> {
  const columns: Columns = { ...layouts.at(-1), mac: 'bytes' };
  return {
    name,
    columns,
    columnNames: namesOf(columns) as (keyof SignedRow<Row>)[],
    layouts: layouts.map((layout) => namesOf(layout) as (keyof Row)[]),
  };
}

/** Signs the rows of a table and verifies them. */
export interface SignedTable<Row> {
  /** The row, signed in the oldest layout that covers its values. */
  readonly signed: (row: Row) => SignedRow<Row>;
  /** Whether the key ring's keys signed exactly these values. */
  readonly isAuthentic: (row: SignedRow<Row>) => boolean;
  /** The error for rows of which one is not authentic: a row of an unknown layout has another message than a damaged one. */
  readonly integrityError: (what: string, ...rows: readonly SignedRow<Row>[]) => AppError;
}

/** The signatures of one table. */
export function createSignedTable<Row extends object>(
  { sign, isAuthentic }: RowSigner,
  { name, layouts }: TableDefinition<Row>,
): SignedTable<Row> {
  const newest = layouts.length;
  const allColumns = [...new Set(layouts.flat())];
  const contentOf = (row: Row, columns: readonly (keyof Row)[], layout: number) =>
    columns.reduce((content, column) => `${content}|${formOf(row[column])}`, `${layout}|${name}`);
  const isCovered = (row: Row, lacking: readonly (keyof Row)[]) => lacking.every((column) => row[column] === null);
  const known = layouts.map((columns) => ({
    columns,
    lacking: allColumns.filter((column) => !columns.includes(column)),
  }));

  return {
    signed: (row) => {
      const index = known.findIndex(({ lacking }) => isCovered(row, lacking));
      const signature = sign(contentOf(row, layouts[index] ?? [], index + 1));
      return { ...row, mac: Buffer.concat([Uint8Array.of(index + 1), signature]) };
    },
    isAuthentic: (row) => {
      // A damaged row may have anything.
      if (!((row.mac as unknown) instanceof Uint8Array)) return false;
      const [layout = 0] = row.mac;
      const found = known[layout - 1];
      return (
        found !== undefined &&
        // Values that a signature does not cover must not be trusted.
        isCovered(row, found.lacking) &&
        isAuthentic(contentOf(row, found.columns, layout), row.mac.subarray(1))
      );
    },
    integrityError: (what, ...rows) => {
      const unknown = rows.map(({ mac }) => layoutOf(mac)).find((layout) => layout > newest);
      return unknown === undefined ? integrityError(what) : newerLayout(what, unknown, newest);
    },
  };
}

function layoutOf(mac: unknown): number {
  return mac instanceof Uint8Array ? (mac[0] ?? 0) : 0;
}

/** Distinct values have distinct forms. The `|` after a form ends it: a text has its length, and no other form contains `|`. */
function formOf(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'bigint') return `i${value}`;
  if (typeof value === 'string') return `t${value.length}:${value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  // A damaged row may contain values of other types, which are never signed.
  return '?';
}

/** The error for rows that fail their integrity check. The message is for the log. */
export function integrityError(what: string, cause?: unknown): AppError {
  return new AppError(
    'INTERNAL',
    `${nameForLog(what)} failed its integrity check; run \`keyfront check\` for details.`,
    { cause },
  );
}

function newerLayout(what: string, layout: number, newest: number): AppError {
  return new AppError(
    'INTERNAL',
    `${nameForLog(what)} has row layout ${layout}, and this Keyfront supports up to ${newest}: a newer version wrote it, or it is damaged.`,
  );
}

/** The name of a damaged row, which can contain any characters. */
function nameForLog(what: string): string {
  return printable(what.slice(0, 100));
}
