import { createHash } from 'node:crypto';
import { parseJSON } from '../../lib/json.js';
import { credentialColumns, type CredentialRow } from './credential.js';
import { defineTable, type Columns, type RowOf } from './signed.js';

const columns = {
  name: 'text',
  /** Grows with every change, so that an older head shows. */
  sequence: 'integer',
  content: 'text',
} as const satisfies Columns;

/** One signed row about many others: an older row that is put back differs from it. */
export type HeadRow = RowOf<typeof columns>;

/** The table of heads. */
export const headTable = defineTable<HeadRow>('heads', columns);

/** The newest state of each credential, by ID. */
export type CredentialStamps = ReadonlyMap<string, string>;

/** All columns but the time of the last use, which is written every minute and permits nothing. */
const stamped = credentialColumns.filter((column) => column !== 'last_used');

/** Identifies the state of a credential: 128 bits of SHA-256. */
export function stampOf(row: CredentialRow): string {
  const values = stamped.map((column) => {
    const value = row[column];
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value?.toString() ?? null);
  });
  return createHash('sha256').update(JSON.stringify(values)).digest().subarray(0, 16).toString('base64url');
}

/** Encodes the states of credentials as the content of a head. */
export function stampsToContent(stamps: CredentialStamps): string {
  return JSON.stringify([...stamps]);
}

/** The inverse of `stampsToContent`. */
export function stampsFromContent(content: string): CredentialStamps {
  // Written by us, from this very type.
  return new Map(parseJSON(content) as unknown as [string, string][]);
}
