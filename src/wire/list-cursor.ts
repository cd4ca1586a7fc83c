import { createHash } from 'node:crypto';
import { AppError } from '../lib/errors.js';
import { integerOf, isInt64 } from '../lib/int64.js';
import { parseJSON, stringifyJSON } from '../lib/json.js';
import type { KeyOrder, KeyPosition, RequestedFilter } from '../keys/key-query.js';

/** The name of an argument that takes a cursor. */
export type CursorArgument = 'after' | 'before';

/** The cursors of one list of keys. Opaque to clients, and valid for lists with the same filter and order. */
interface ListCursors {
  readonly encode: (position: KeyPosition) => string;
  /** @throws {AppError} INVALID when the text is not a cursor of this list. */
  readonly decode: (cursor: string, argument: CursorArgument) => KeyPosition;
}

/** The cursors of the list with this filter and order. */
export function cursorsOf({ filter, orderBy }: { filter: RequestedFilter; orderBy: KeyOrder }): ListCursors {
  const conditions = Object.entries(filter).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // Short, because it detects mistakes and does not authenticate.
  const list = createHash('sha256')
    .update(stringifyJSON([orderBy, conditions]))
    .digest('base64url')
    .slice(0, 8);
  return {
    encode: ({ value, keyHash }) => Buffer.from(stringifyJSON([list, value, keyHash]), 'utf8').toString('base64url'),
    decode: (cursor, argument) => {
      const [ofList, value, keyHash] = partsOf(cursor);
      const position =
        orderBy === 'KEY_HASH' || orderBy === 'ALIAS'
          ? typeof value === 'string'
            ? value
            : undefined
          : int64Of(value);
      if (ofList !== list || typeof keyHash !== 'string' || position === undefined) {
        throw invalidCursorError(argument, 'must be a cursor of this list with the same filter and order');
      }
      return { value: position, keyHash };
    },
  };
}

/** The cursors of a list of names. */
export const nameCursors = {
  encode: (name: string): string => Buffer.from(stringifyJSON(['names', name]), 'utf8').toString('base64url'),
  /** @throws {AppError} INVALID when the text is not a cursor of a list of names. */
  decode(cursor: string, argument: CursorArgument): string {
    const [ofList, name] = partsOf(cursor);
    if (ofList === 'names' && typeof name === 'string') return name;
    throw invalidCursorError(argument, 'must be a cursor of this list');
  },
};

/** A place in a list by time. */
interface TimePosition {
  readonly at: Date;
  readonly id: string;
}

/** The cursors of a list by time. */
export const timeCursors = {
  encode: ({ at, id }: TimePosition): string => nameCursors.encode(`${at.getTime()}.${id}`),
  /** @throws {AppError} INVALID when the text is not a cursor of this list, which has `items`. */
  decode(cursor: string, argument: CursorArgument, items: string): TimePosition {
    const [, milliseconds = '', id = ''] = /^(\d{1,15})\.(.+)$/s.exec(nameCursors.decode(cursor, argument)) ?? [];
    if (id === '') throw invalidCursorError(argument, `must be a cursor of ${items}`);
    return { at: new Date(Number(milliseconds)), id };
  },
};

function partsOf(cursor: string): readonly unknown[] {
  try {
    const decoded: unknown = parseJSON(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(decoded) ? (decoded as unknown[]) : [];
  } catch {
    return [];
  }
}

function int64Of(value: unknown): bigint | undefined {
  const integer = integerOf(value);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

/** Creates the error for an argument that is not a cursor of its list. */
export function invalidCursorError(argument: CursorArgument, message: string): AppError {
  return new AppError('INVALID', 'The cursor does not belong to this list.', {
    issues: [{ path: [argument], code: 'MALFORMED_ARGUMENT', message }],
  });
}
