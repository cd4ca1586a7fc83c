import { AppError } from '../../lib/errors.js';

/**
 * Where a change stands among all. What was written by one transaction shares `tx`, and engines that take one writer at
 * a time know no other than 0.
 */
export interface FeedPosition {
  readonly tx: bigint;
  readonly id: bigint;
}

/** Before the first change. */
export const start: FeedPosition = { tx: 0n, id: 0n };

/** A place with a mark of what stands there, by which a cursor of another past is known; none where that is gone. */
export interface FingerprintedPosition extends FeedPosition {
  readonly mark: string;
}

/** Eight digits of an entry's link: enough to tell two pasts from each other. */
export function fingerprintOf(link: Uint8Array | undefined): string {
  return Buffer.from(link?.subarray(0, 4) ?? []).toString('hex');
}

export function cursorOf({ tx, id }: FeedPosition, mark: string): string {
  return Buffer.from(`${tx}.${id}.${mark}`, 'latin1').toString('base64url');
}

/** Throws INVALID for what is no cursor. */
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

/** For what is no cursor of changes. */
export function badCursor(): AppError {
  return refused('The cursor is none of the changes.', 'must be a cursor of a change');
}

/** For a cursor of a past that is not the database's: what it had seen is not what was there. */
export function foreignCursor(): AppError {
  const message =
    'The cursor is of another database, or of a time that a backup has undone. Read the keys anew, and follow without a cursor.';
  return refused(message, 'must be a cursor of this database');
}

function refused(message: string, issue: string): AppError {
  return new AppError('INVALID', message, {
    issues: [{ path: ['after'], code: 'MALFORMED_ARGUMENT', message: issue }],
  });
}
