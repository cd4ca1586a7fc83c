import type { Database } from 'better-sqlite3';
import { parseJSON, stringifyJSON } from '../../json.js';
import { definitionFromJSON } from '../../keys/stored-form.js';
import type { AuditEntry, Change, KeyStore, StoredKey } from '../../keys/store.js';
import { whenFree } from './busy.js';

interface KeyRow {
  key_hash: string;
  sealed_key_id: Uint8Array;
  org_id: string;
  version: bigint;
  date_created: string;
  last_updated: bigint;
  definition: string;
  password_hash: string | null;
  jwt_secret: Uint8Array | null;
  hmac_string: Uint8Array | null;
  quota_used: bigint;
  quota_renews: bigint | null;
}

interface AuditRow {
  at: bigint;
  key_hash: string;
  org_id: string;
  operation: AuditEntry['operation'];
  credential_id: string;
  credential_label: string;
  request_id: string;
  version_before: bigint;
  version_after: bigint;
  quota_used_before_reset: bigint | null;
}

const pageSize = 500;

/** The key store over one SQLite file. Writes are durable when they are answered. */
export function createKeyStore(database: Database): KeyStore {
  const columns = [
    'key_hash',
    'sealed_key_id',
    'org_id',
    'version',
    'date_created',
    'last_updated',
    'definition',
    'password_hash',
    'jwt_secret',
    'hmac_string',
    'quota_used',
    'quota_renews',
  ] as const satisfies readonly (keyof KeyRow)[];
  const find = database.prepare<[string], KeyRow>('SELECT * FROM keys WHERE key_hash = ?');
  const page = database.prepare<[string], KeyRow>(
    `SELECT * FROM keys WHERE key_hash > ? ORDER BY key_hash LIMIT ${pageSize}`,
  );
  const insert = database.prepare<[KeyRow]>(
    `INSERT INTO keys (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})
     ON CONFLICT (key_hash) DO NOTHING`,
  );
  const replace = database.prepare<[KeyRow]>(
    `UPDATE keys SET ${columns.map((column) => `${column} = @${column}`).join(', ')} WHERE key_hash = @key_hash`,
  );
  const insertAudit = database.prepare<[AuditRow]>(
    `INSERT INTO audit (at, key_hash, org_id, operation, credential_id, credential_label, request_id, version_before,
       version_after, quota_used_before_reset)
     VALUES (@at, @key_hash, @org_id, @operation, @credential_id, @credential_label, @request_id, @version_before,
       @version_after, @quota_used_before_reset)`,
  );
  const auditOf = database.prepare<[string], AuditRow>('SELECT * FROM audit WHERE key_hash = ? ORDER BY id');

  const updateOne = database.transaction((keyHash: string, change: (stored: StoredKey | undefined) => Change) => {
    const row = find.get(keyHash);
    const changed = change(row && keyOf(row));
    replace.run(rowOf(changed.next));
    insertAudit.run(auditRowOf(changed.audit));
    return changed;
  });
  const resealOne = database.transaction((keyHash: string, change: (stored: StoredKey) => StoredKey) => {
    const row = find.get(keyHash);
    if (row) replace.run(rowOf(change(keyOf(row))));
  });
  const addAll = database.transaction((keys: readonly Change[]) =>
    keys.map(({ next, audit }) => {
      const added = insert.run(rowOf(next)).changes === 1;
      if (added) insertAudit.run(auditRowOf(audit));
      return added;
    }),
  );

  return {
    find: (keyHash) =>
      whenFree(() => {
        const row = find.get(keyHash);
        return row && keyOf(row);
      }),
    update: (keyHash, change) => whenFree(() => updateOne.immediate(keyHash, change)),
    reseal: (keyHash, change) => whenFree(() => resealOne.immediate(keyHash, change)),
    add: (keys) => whenFree(() => addAll.immediate(keys)),
    async *all() {
      for (let last = ''; ;) {
        const rows = await whenFree(() => page.all(last));
        yield* rows.map(keyOf);
        const final = rows.at(-1);
        if (final === undefined) return;
        last = final.key_hash;
      }
    },
    auditOf: (keyHash) => whenFree(() => auditOf.all(keyHash).map(auditEntryOf)),
  };
}

function keyOf(row: KeyRow): StoredKey {
  return {
    keyHash: row.key_hash,
    sealedKeyID: row.sealed_key_id,
    orgID: row.org_id,
    version: Number(row.version),
    dateCreated: row.date_created,
    lastUpdated: row.last_updated,
    definition: definitionFromJSON(parseJSON(row.definition)),
    secrets: {
      passwordHash: row.password_hash ?? undefined,
      jwtSecret: row.jwt_secret ?? undefined,
      hmacString: row.hmac_string ?? undefined,
    },
    quota: { used: row.quota_used, renews: row.quota_renews ?? undefined },
  };
}

function rowOf(key: StoredKey): KeyRow {
  return {
    key_hash: key.keyHash,
    sealed_key_id: key.sealedKeyID,
    org_id: key.orgID,
    version: BigInt(key.version),
    date_created: key.dateCreated,
    last_updated: key.lastUpdated,
    definition: stringifyJSON(key.definition),
    password_hash: key.secrets.passwordHash ?? null,
    jwt_secret: key.secrets.jwtSecret ?? null,
    hmac_string: key.secrets.hmacString ?? null,
    quota_used: key.quota.used,
    quota_renews: key.quota.renews ?? null,
  };
}

function auditRowOf(entry: AuditEntry): AuditRow {
  return {
    at: BigInt(entry.at.getTime()),
    key_hash: entry.keyHash,
    org_id: entry.orgID,
    operation: entry.operation,
    credential_id: entry.actor.credentialID,
    credential_label: entry.actor.label,
    request_id: entry.requestID,
    version_before: BigInt(entry.versionBefore),
    version_after: BigInt(entry.versionAfter),
    quota_used_before_reset: entry.quotaUsedBeforeReset ?? null,
  };
}

function auditEntryOf(row: AuditRow): AuditEntry {
  return {
    at: new Date(Number(row.at)),
    keyHash: row.key_hash,
    orgID: row.org_id,
    operation: row.operation,
    actor: { credentialID: row.credential_id, label: row.credential_label },
    requestID: row.request_id,
    versionBefore: Number(row.version_before),
    versionAfter: Number(row.version_after),
    quotaUsedBeforeReset: row.quota_used_before_reset ?? undefined,
  };
}
