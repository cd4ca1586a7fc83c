import { AppError } from '../errors.js';
import { parseJSON, stringifyJSON } from '../json.js';
import type { KeyOrder, Position, StoredKey } from '../keys/store.js';

/** A place in a list of keys. Opaque to callers; good for as long as the order is the same. */
export function cursorOf(key: StoredKey, orderBy: KeyOrder): string {
  return Buffer.from(stringifyJSON([orderBy, valueOf(key, orderBy), key.keyHash]), 'utf8').toString('base64url');
}

/** The place that a cursor names. Throws INVALID for what is no cursor, or one of another order. */
export function positionOf(cursor: string, orderBy: KeyOrder): Position {
  let parts: unknown;
  try {
    parts = parseJSON(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw badCursor();
  }
  const [order, value, keyHash] = Array.isArray(parts) ? (parts as unknown[]) : [];
  if (order !== orderBy || typeof keyHash !== 'string') throw badCursor();
  if (orderBy === 'LAST_UPDATED' && Number.isInteger(value)) return { value: BigInt(value as number), keyHash };
  if (orderBy !== 'LAST_UPDATED' && typeof value === 'string') return { value, keyHash };
  throw badCursor();
}

/** The version that a cursor of a history names. */
export function versionOfCursor(cursor: string): number {
  if (!/^\d{1,10}$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

function valueOf({ definition, lastUpdated }: StoredKey, orderBy: KeyOrder): string | bigint {
  if (orderBy === 'ALIAS') return definition.alias ?? '';
  return orderBy === 'LAST_UPDATED' ? lastUpdated : '';
}

function badCursor(): AppError {
  return new AppError('INVALID', 'The cursor is not one of this list in this order.', {
    issues: [
      { path: ['after'], code: 'MALFORMED_ARGUMENT', message: 'must be a cursor of this list, in the same order' },
    ],
  });
}
