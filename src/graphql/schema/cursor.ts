import { AppError } from '../../lib/errors.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { integerOf, isInt64 } from '../../lib/int64.js';
import type { StoredKey } from '../../keys/key.js';
import type { KeyOrder, Position } from '../../keys/key-query.js';

/** A place in a list of keys. Opaque to callers; good for as long as the order is the same. */
export function encodeCursor(key: StoredKey, orderBy: KeyOrder): string {
  return Buffer.from(stringifyJSON([orderBy, orderValueOf(key, orderBy), key.keyHash]), 'utf8').toString('base64url');
}

/** The argument that a cursor was given as. */
type CursorArgument = 'after' | 'before';

/** The place that a cursor names. Throws INVALID for what is no cursor, or one of another order. */
export function decodeCursor(cursor: string, orderBy: KeyOrder, argument: CursorArgument): Position {
  let decoded: unknown;
  try {
    decoded = parseJSON(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw invalidCursorError(argument);
  }
  const [order, value, keyHash] = Array.isArray(decoded) ? (decoded as unknown[]) : [];
  const position = orderBy === 'LAST_UPDATED' ? int64Of(value) : typeof value === 'string' ? value : undefined;
  if (order !== orderBy || typeof keyHash !== 'string' || position === undefined) throw invalidCursorError(argument);
  return { value: position, keyHash };
}

/** The version that a cursor of a history names. Throws INVALID for what is no cursor. */
export function decodeVersionCursor(cursor: string, argument: CursorArgument): number {
  if (!/^\d{1,10}$/.test(cursor)) throw invalidCursorError(argument);
  return Number(cursor);
}

function orderValueOf({ definition, lastUpdated }: StoredKey, orderBy: KeyOrder): string | bigint {
  if (orderBy === 'ALIAS') return definition.alias ?? '';
  return orderBy === 'LAST_UPDATED' ? lastUpdated : '';
}

function int64Of(value: unknown): bigint | undefined {
  const integer = integerOf(value);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

function invalidCursorError(argument: CursorArgument): AppError {
  return new AppError('INVALID', 'The cursor is not one of this list in this order.', {
    issues: [
      { path: [argument], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of this list, in the same order' },
    ],
  });
}
