import { setImmediate as nextIteration } from 'node:timers/promises';
import { stringifyJSON } from '../lib/json.js';
import type { StoredKey } from '../keys/key.js';
import type { KeyOrder, Position } from '../keys/key-query.js';
import { malformedParameter } from '../http/query-parameters.js';

/** How large a list may be: as a GraphQL response. A page that would be larger has fewer keys than it may have. */
export const listLimitBytes = 2 * 1024 * 1024;

/** How much is written between two iterations of the event loop. */
const sliceBytes = 256 * 1024;

/** The members that `memberOf` makes of items, as JSON texts: as many as are within the limit, and at least one. */
export async function stringifyWithin<Item>(
  items: readonly Item[],
  memberOf: (item: Item) => object,
  limitBytes = listLimitBytes,
): Promise<string[]> {
  const members: string[] = [];
  let bytes = 0;
  let written = 0;
  for (const item of items) {
    const member = stringifyJSON(memberOf(item));
    const size = Buffer.byteLength(member) + 1;
    bytes += size;
    written += size;
    if (bytes > limitBytes && members.length > 0) return members;
    members.push(member);
    if (written < sliceBytes) continue;
    written = 0;
    await nextIteration();
  }
  return members;
}

/** The place of a key in a list, for the `after` of the next page. Opaque to clients. */
export function cursorFor({ keyHash, definition: { alias = '' } }: StoredKey, orderBy: KeyOrder): string {
  return orderBy === 'ALIAS' ? `${keyHash}.${Buffer.from(alias, 'utf8').toString('base64url')}` : keyHash;
}

/** The hashes of all algorithms, in hex. */
const hash = /^(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})$/;

/**
 * The place that a cursor names.
 *
 * @throws {AppError} INVALID for a text that is no cursor, and for a cursor of a list in another order.
 */
export function positionFromCursor(after: string, orderBy: KeyOrder): Position {
  const [keyHash = '', alias = '', ...rest] = after.split('.');
  const value = Buffer.from(alias, 'base64url').toString('utf8');
  const written = orderBy === 'ALIAS' ? `${keyHash}.${Buffer.from(value, 'utf8').toString('base64url')}` : keyHash;
  if (rest.length > 0 || !hash.test(keyHash) || after !== written) {
    throw malformedParameter('after', 'must be the `next` of the page before');
  }
  return { keyHash, value };
}
