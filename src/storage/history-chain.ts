import { createHash } from 'node:crypto';
import { stringifyJSON } from '../json.js';

/**
 * The link of a history entry: SHA-256 over the link before it and everything that the entry's row says. The key keeps
 * its newest link, so that no entry can be changed, taken out or added without breaking the chain.
 */
export function historyLink(previous: Uint8Array | null, row: readonly (string | bigint | null)[]): Uint8Array {
  return createHash('sha256')
    .update(previous ?? new Uint8Array(32))
    .update(stringifyJSON(row), 'utf8')
    .digest();
}
