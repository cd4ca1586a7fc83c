import { AppError } from '../../lib/errors.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { integerOf, isInt64 } from '../../lib/int64.js';
import type { StoredKey } from '../../keys/key.js';
import type { KeyOrder, KeyPosition } from '../../keys/key-query.js';

/** Encodes the position of a key in a list. Opaque to clients; valid for lists in the same order. */
export function encodeCursor(key: StoredKey, orderBy: KeyOrder): string {
  return Buffer.from(stringifyJSON([orderBy, orderValueOf(key, orderBy), key.keyHash]), 'utf8').toString('base64url');
}

/** The name of an argument that takes a cursor. */
type CursorArgument = 'after' | 'before';

/**
 * Decodes a cursor of a list of keys.
 *
 * @throws {AppError} INVALID when it is not a cursor, or one of another order.
 */
export function decodeCursor(cursor: string, orderBy: KeyOrder, argument: CursorArgument): KeyPosition {
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

/**
 * Decodes a cursor of a history.
 *
 * @throws {AppError} INVALID when it is not a cursor of a history.
 */
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
  return new AppError('INVALID', 'The cursor does not belong to this list and order.', {
    issues: [
      { path: [argument], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of this list in the same order' },
    ],
  });
}
