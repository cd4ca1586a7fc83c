import { createHash } from 'node:crypto';

/**
 * The link of a history entry: SHA-256 over the link before it and all values of the entry's row. The key keeps
 * its newest link, so that no entry can be changed, taken out or added without breaking the chain.
 */
export function historyLink(previous: Uint8Array | null, row: readonly (string | bigint | null)[]): Uint8Array {
  return createHash('sha256')
    .update(previous ?? new Uint8Array(32))
    .update(textOf(row), 'utf8')
    .digest();
}

/** The row as `stringifyJSON` would write it, without a search for what it holds. */
function textOf(row: readonly (string | bigint | null)[]): string {
  return `[${row.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`;
}
