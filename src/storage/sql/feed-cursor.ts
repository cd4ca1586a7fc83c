import { AppError } from '../../lib/errors.js';

/**
 * The position of a change. Changes of one transaction share `tx`; an engine with one writer at a time has `tx` 0 only.
 */
export interface FeedPosition {
  readonly tx: bigint;
  readonly id: bigint;
}

/** Before the first change. */
export const start: FeedPosition = { tx: 0n, id: 0n };

/** A position with a fingerprint of its change, by which cursors of another history are detected; empty if it was purged. */
export interface FingerprintedPosition extends FeedPosition {
  readonly mark: string;
}

/** Eight hex digits of the link of an entry: enough to distinguish two histories. */
export function fingerprintOf(link: Uint8Array | undefined): string {
  return Buffer.from(link?.subarray(0, 4) ?? []).toString('hex');
}

/** Encodes a position of the change feed, with the fingerprint of the entry there. */
export function cursorOf({ tx, id }: FeedPosition, mark: string): string {
  return Buffer.from(`${tx}.${id}.${mark}`, 'latin1').toString('base64url');
}

/** @throws {AppError} INVALID when the text is not a cursor. */
export function positionOfCursor(cursor: string): FingerprintedPosition {
  const text = cursor.length <= 80 ? Buffer.from(cursor, 'base64url').toString('latin1') : '';
  const [, tx = '', id = '', mark = ''] = /^(\d{1,19})\.(\d{1,19})\.([\da-f]{8}|)$/.exec(text) ?? [];
  const place = { tx: int64Of(tx), id: int64Of(id), mark };
  if (place.tx === undefined || place.id === undefined) throw badCursor();
  return { tx: place.tx, id: place.id, mark };
}

function int64Of(digits: string): bigint | undefined {
  const integer = digits === '' ? undefined : BigInt(digits);
  return integer !== undefined && BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

/** The error for text that is not a cursor of the change feed. */
export function badCursor(): AppError {
  return invalidCursor('The cursor is not a cursor of the change feed.', 'must be a cursor of a change');
}

/** The error for a cursor of another history than that of the database. */
export function foreignCursor(): AppError {
  const message =
    'The cursor belongs to another database, or to changes that a restored backup does not have. Read the keys again, and follow without a cursor.';
  return invalidCursor(message, 'must be a cursor of this database');
}

function invalidCursor(message: string, issue: string): AppError {
  return new AppError('INVALID', message, {
    issues: [{ path: ['after'], code: 'MALFORMED_ARGUMENT', message: issue }],
  });
}
