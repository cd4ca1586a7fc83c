import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { definitionFromJSON } from '../../keys/definition/from-json.js';
import type { StoredKey } from '../../keys/key.js';
import { dateOf, defineTable, millisecondsOf, type Columns, type RowOf, type SignedRow } from './signed.js';

const columns = {
  key_hash: 'text',
  identity: 'bytes',
  sealed_key_id: 'bytes',
  org_id: 'text',
  version: 'integer',
  created: 'integer?',
  date_created: 'text?',
  last_updated: 'integer',
  deleted: 'integer?',
  definition: 'text',
  alias: 'text',
  expires: 'integer',
  is_inactive: 'integer',
  password_hash: 'text?',
  jwt_secret: 'bytes?',
  hmac_string: 'bytes?',
  quota_used: 'integer',
  quota_renews: 'integer?',
  history_link: 'bytes',
} as const satisfies Columns;

/** The signed values of a key. */
export type KeyRow = RowOf<typeof columns>;

/** A row of the table of keys, with its place and its newest history entry, which find rows and are not signed. */
export type StoredKeyRow = SignedRow<KeyRow> & { readonly id: bigint; readonly head: bigint };

/** The table of keys. */
export const keyTable = defineTable<KeyRow>('keys', columns);

/** Returns the key of a row that passed its integrity check. */
export function keyFromRow(row: KeyRow): StoredKey {
  return {
    keyHash: row.key_hash,
    identity: Buffer.from(row.identity).toString('hex'),
    sealedKeyID: row.sealed_key_id,
    orgID: row.org_id,
    version: Number(row.version),
    dateCreated: row.date_created ?? new Date(Number(row.created)).toISOString(),
    lastUpdated: row.last_updated,
    deleted: dateOf(row.deleted),
    definition: definitionFromJSON(parseJSON(row.definition)),
    secrets: {
      passwordHash: row.password_hash ?? undefined,
      jwtSecret: row.jwt_secret ?? undefined,
      hmacString: row.hmac_string ?? undefined,
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}

/** The date of creation in milliseconds; a date that has more digits, from another system, as it is. */
function creationOf({ dateCreated }: StoredKey): Pick<KeyRow, 'created' | 'date_created'> {
  const date = new Date(dateCreated);
  const isExact = !Number.isNaN(date.getTime()) && date.toISOString() === dateCreated;
  return isExact
    ? { created: BigInt(date.getTime()), date_created: null }
    : { created: null, date_created: dateCreated };
}

/** Returns the row of a key. */
export function keyToRow(key: StoredKey, historyLink: Uint8Array): KeyRow {
  return {
    key_hash: key.keyHash,
    identity: Buffer.from(key.identity, 'hex'),
    sealed_key_id: key.sealedKeyID,
    org_id: key.orgID,
    version: BigInt(key.version),
    ...creationOf(key),
    last_updated: key.lastUpdated,
    deleted: millisecondsOf(key.deleted),
    definition: stringifyJSON(key.definition),
    alias: key.definition.alias ?? '',
    expires: key.definition.expires ?? 0n,
    is_inactive: key.definition.isInactive === true ? 1n : 0n,
    password_hash: key.secrets.passwordHash ?? null,
    jwt_secret: key.secrets.jwtSecret ?? null,
    hmac_string: key.secrets.hmacString ?? null,
    quota_used: key.quota.used,
    quota_renews: key.quota.renews ?? null,
    history_link: historyLink,
  };
}

/** The terms of the index of keys, by what they contain. */
export const term = {
  tag: (tag: string) => `t:${tag}`,
  policy: (policy: string) => `p:${policy}`,
  api: (apiID: string) => `a:${apiID}`,
};

/** The search terms of a key. */
export function termsOf({ definition: { tags, applyPolicies, accessRights } }: StoredKey): Set<string> {
  return new Set([
    ...(tags ?? []).map(term.tag),
    ...(applyPolicies ?? []).map(term.policy),
    // Without an API identifier, the label is the term.
    ...(accessRights ?? []).map(({ apiID, label }) => term.api(apiID ?? label)),
  ]);
}
