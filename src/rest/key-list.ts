import { stringifyJSON } from '../lib/json.js';
import type { NextStage } from '../lib/scheduler.js';

/** The maximum size of a page, as of a GraphQL response. A page that would be larger has fewer keys than `limit`. */
export const listLimitBytes = 2 * 1024 * 1024;

/** How many bytes are stringified in one stage. */
const sliceBytes = 256 * 1024;

/** The member of `errors` for a key of a page that cannot be read. */
export function unreadableItem(keyHash: string) {
  return { key_hash: keyHash, code: 'INTERNAL', message: 'Internal error.' };
}

/** Stringifies rendered items until they exceed `limitBytes`; at least one item. */
export async function stringifyItemsWithin<Item>(
  items: readonly Item[],
  render: (item: Item) => object,
  nextStage: NextStage,
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
    await nextStage();
  }
  return members;
}
