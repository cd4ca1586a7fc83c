import { setImmediate as nextIteration } from 'node:timers/promises';
import { stringifyJSON } from '../lib/json.js';
import type { StoredKey } from '../keys/key.js';
import type { KeyOrder, KeyPosition } from '../keys/key-query.js';
import { malformedParameter } from '../http/query-parameters.js';

/** The maximum size of a list, which is that of a GraphQL response. A page that would be larger has fewer keys than `limit`. */
export const listLimitBytes = 2 * 1024 * 1024;

/** How many bytes are stringified in one iteration of the event loop. */
const sliceBytes = 256 * 1024;

/** Stringifies the items that are within the limit, at least one, as `render` returns them. */
export async function stringifyItemsWithin<Item>(
  items: readonly Item[],
  render: (item: Item) => object,
  limitBytes = listLimitBytes,
): Promise<string[]> {
  const members: string[] = [];
  let bytes = 0;
  let sliceUsed = 0;
  for (const item of items) {
    const member = stringifyJSON(render(item));
    const size = Buffer.byteLength(member) + 1;
    bytes += size;
    sliceUsed += size;
    if (bytes > limitBytes && members.length > 0) return members;
    members.push(member);
    if (sliceUsed < sliceBytes) continue;
    sliceUsed = 0;
    await nextIteration();
  }
  return members;
}

/** The cursor of a key in a list: the `after` of the next page. Opaque to clients. */
export function cursorFor({ keyHash, definition: { alias = '' } }: StoredKey, orderBy: KeyOrder): string {
  return orderBy === 'ALIAS' ? `${keyHash}.${Buffer.from(alias, 'utf8').toString('base64url')}` : keyHash;
}

/** The hashes of all algorithms, in hex. */
const hash = /^(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})$/;

/**
 * Parses a cursor.
 *
 * @throws {AppError} INVALID when the text is not a cursor, or the cursor of a list in another order
 */
export function positionFromCursor(after: string, orderBy: KeyOrder): KeyPosition {
  const [keyHash = '', alias = '', ...rest] = after.split('.');
  const value = Buffer.from(alias, 'base64url').toString('utf8');
  const canonical = orderBy === 'ALIAS' ? `${keyHash}.${Buffer.from(value, 'utf8').toString('base64url')}` : keyHash;
  if (rest.length > 0 || !hash.test(keyHash) || after !== canonical) {
    throw malformedParameter('after', 'must be the `next` of the previous page');
  }
  return { keyHash, value };
}
