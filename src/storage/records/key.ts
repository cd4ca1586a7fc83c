import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { definitionFromJSON } from '../../keys/definition/from-json.js';
import type { StoredKey } from '../../keys/key.js';
import type { Layouts } from './signed.js';

/** A row of the table of keys. */
export interface KeyRow {
  key_hash: string;
  sealed_key_id: Uint8Array;
  org_id: string;
  version: bigint;
  date_created: string;
  last_updated: bigint;
  deleted: bigint | null;
  definition: string;
  alias: string;
  expires: bigint;
  is_inactive: bigint;
  password_hash: string | null;
  jwt_secret: Uint8Array | null;
  hmac_string: Uint8Array | null;
  quota_used: bigint;
  quota_renews: bigint | null;
  history_link: Uint8Array;
}

/** All of a key but its signature, which is made over these. */
export const keyColumns = [
  'key_hash',
  'sealed_key_id',
  'org_id',
  'version',
  'date_created',
  'last_updated',
  'deleted',
  'definition',
  'alias',
  'expires',
  'is_inactive',
  'password_hash',
  'jwt_secret',
  'hmac_string',
  'quota_used',
  'quota_renews',
  'history_link',
] as const satisfies readonly (keyof KeyRow)[];

/** The layouts that rows of keys were signed with, the newest last. */
export const keyLayouts: Layouts<KeyRow> = [keyColumns];

/** Returns the key of a row that passed its integrity check. */
export function keyFromRow(row: KeyRow): StoredKey {
  return {
    keyHash: row.key_hash,
    sealedKeyID: row.sealed_key_id,
    orgID: row.org_id,
    version: Number(row.version),
    dateCreated: row.date_created,
    lastUpdated: row.last_updated,
    deleted: row.deleted === null ? undefined : new Date(Number(row.deleted)),
    definition: definitionFromJSON(parseJSON(row.definition)),
    secrets: {
      passwordHash: row.password_hash ?? undefined,
      jwtSecret: row.jwt_secret ?? undefined,
      hmacString: row.hmac_string ?? undefined,
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}

/** Returns the row of a key. */
export function keyToRow(key: StoredKey, historyLink: Uint8Array): KeyRow {
  return {
    key_hash: key.keyHash,
    sealed_key_id: key.sealedKeyID,
    org_id: key.orgID,
    version: BigInt(key.version),
    date_created: key.dateCreated,
    last_updated: key.lastUpdated,
    deleted: key.deleted === undefined ? null : BigInt(key.deleted.getTime()),
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

/** Everything a key can be found by that it may have several of. */
export function termsOf({ definition: { tags, applyPolicies, accessRights } }: StoredKey): Set<string> {
  return new Set([
    ...(tags ?? []).map(term.tag),
    ...(applyPolicies ?? []).map(term.policy),
    // A gateway looks entries up by API identifier; the label stands in where there is none.
    ...(accessRights ?? []).map(({ apiID, label }) => term.api(apiID ?? label)),
  ]);
}
