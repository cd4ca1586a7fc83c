import { AppError } from '../../lib/errors.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { integerOf, isInt64 } from '../../lib/int64.js';
import type { StoredKey } from '../../keys/key.js';
import type { KeyOrder, Position } from '../../keys/key-query.js';

/** A place in a list of keys. Opaque to callers; good for as long as the order is the same. */
export function cursorOf(key: StoredKey, orderBy: KeyOrder): string {
  return Buffer.from(stringifyJSON([orderBy, valueOf(key, orderBy), key.keyHash]), 'utf8').toString('base64url');
}

/** The argument that a cursor was given as. */
type Argument = 'after' | 'before';

/** The place that a cursor names. Throws INVALID for what is no cursor, or one of another order. */
export function positionOf(cursor: string, orderBy: KeyOrder, argument: Argument): Position {
  let parts: unknown;
  try {
    parts = parseJSON(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw badCursor(argument);
  }
  const [order, value, keyHash] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const place = orderBy === 'LAST_UPDATED' ? int64Of(value) : typeof value === 'string' ? value : undefined;
  if (order !== orderBy || typeof keyHash !== 'string' || place === undefined) throw badCursor(argument);
  return { value: place, keyHash };
}

/** The version that a cursor of a history names. Throws INVALID for what is no cursor. */
export function versionOfCursor(cursor: string, argument: Argument): number {
  if (!/^\d{1,10}$/.test(cursor)) throw badCursor(argument);
  return Number(cursor);
}

function valueOf({ definition, lastUpdated }: StoredKey, orderBy: KeyOrder): string | bigint {
  if (orderBy === 'ALIAS') return definition.alias ?? '';
  return orderBy === 'LAST_UPDATED' ? lastUpdated : '';
}

function int64Of(value: unknown): bigint | undefined {
  const integer = integerOf(value);
  return integer !== undefined && isInt64(integer) ? integer : undefined;
}

function badCursor(argument: Argument): AppError {
  return new AppError('INVALID', 'The cursor is not one of this list in this order.', {
    issues: [
      { path: [argument], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of this list, in the same order' },
    ],
  });
}
