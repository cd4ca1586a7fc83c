import type { Database } from 'better-sqlite3';
import type { Authenticity } from '../records/authenticity.js';
import { revisionLayouts, type RevisionRow } from '../records/revision.js';
import { credentialLayouts, type CredentialRow } from '../records/credential.js';
import { lastLinked } from '../sql/history-entries.js';
import type { Signatures } from '../records/signatures.js';
import type { WriteGate } from './write-gate.js';
import { keyLayouts, type KeyRow } from '../records/key.js';
import { quotaChangeLayouts } from '../records/quota-change.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { webhookLayouts } from '../records/webhook.js';

const pageSize = 200;

type AnyRow = Readonly<Record<string, unknown>>;

/** A row with the place where it stands, whatever table it is of. */
type Placed<Row> = SignedRow<Row> & { readonly place: bigint };

/**
 * Signs the rows of a database from before rows were signed, a page in a transaction, so that it may be broken off and
 * run again. Must not be run once all are signed: from then on a row without a signature is damage. Returns the hashes
 * of keys that stay unsigned, because they are not what their own history says.
 */
export function signOldRows(
  database: Database,
  authenticity: Authenticity,
  onProgress: (keys: number) => void,
): string[] {
  const keys = createSignedTable<KeyRow>(authenticity, 'keys', keyLayouts);
  const audit = createSignedTable<RevisionRow>(authenticity, 'audit', revisionLayouts);
  const credentials = createSignedTable<CredentialRow>(authenticity, 'credentials', credentialLayouts);
  const unsignedKeys = database.prepare<[string], Placed<KeyRow>>(
    `SELECT rowid AS place, * FROM keys WHERE key_hash > ? AND mac IS NULL ORDER BY key_hash LIMIT ${pageSize}`,
  );
  const historyOf = database.prepare<[string], Placed<RevisionRow>>(
    'SELECT rowid AS place, * FROM audit WHERE key_hash = ? ORDER BY version_after',
  );
  const unsignedCredentials = database.prepare<[], Placed<CredentialRow>>(
    'SELECT rowid AS place, * FROM credentials WHERE mac IS NULL',
  );
  const signKey = database.prepare<[Uint8Array, bigint]>('UPDATE keys SET mac = ? WHERE rowid = ?');
  const signEntry = database.prepare<[Uint8Array, bigint]>('UPDATE audit SET mac = ? WHERE rowid = ?');
  const signCredential = database.prepare<[Uint8Array, bigint]>('UPDATE credentials SET mac = ? WHERE rowid = ?');

  const refused: string[] = [];
  let count = 0;
  const signPage = database.transaction((after: string) => {
    const rows = unsignedKeys.all(after);
    for (const row of rows) {
      const history = historyOf.all(row.key_hash);
      // The chain of the history is all that vouches for a row that nobody has signed.
      if (lastLinked(row, history, () => true)?.definition !== row.definition) {
        refused.push(row.key_hash);
        continue;
      }
      for (const entry of history) signEntry.run(audit.signed(entry).mac, entry.place);
      signKey.run(keys.signed(row).mac, row.place);
      count += 1;
    }
    return rows.at(-1)?.key_hash;
  });
  const signCredentials = database.transaction(() => {
    for (const row of unsignedCredentials.all()) signCredential.run(credentials.signed(row).mac, row.place);
  });

  for (let last: string | undefined = ''; last !== undefined;) {
    last = signPage.immediate(last);
    onProgress(count);
  }
  signCredentials.immediate();
  return refused;
}

export function createSignatures(
  database: Database,
  authenticity: Authenticity,
  { read, write }: WriteGate,
): Signatures {
  const layoutsOf = {
    keys: keyLayouts,
    audit: revisionLayouts,
    credentials: credentialLayouts,
    webhooks: webhookLayouts,
    quota_changes: quotaChangeLayouts,
  };
  const tables = Object.entries(layoutsOf).map(([name, layouts]) => ({
    table: createSignedTable<AnyRow>(authenticity, name, layouts),
    // The first byte is the layout, and the key that signed comes after it.
    older: database.prepare<{ head: Uint8Array; after: bigint; limit: number }, Placed<AnyRow>>(
      `SELECT rowid AS place, * FROM ${name}
       WHERE rowid > @after AND substr(mac, 2, length(@head)) <> @head ORDER BY rowid LIMIT @limit`,
    ),
    sign: database.prepare<[Uint8Array, bigint]>(`UPDATE ${name} SET mac = ? WHERE rowid = ?`),
  }));

  return {
    async renew(onRow) {
      let left = 0;
      for (const { table, older, sign } of tables) {
        const renewPage = (after: bigint) => {
          const rows = older.all({ head: authenticity.currentHead(), after, limit: pageSize });
          const good = rows.filter(table.isAuthentic);
          for (const row of good) sign.run(table.signed(row).mac, row.place);
          return { signed: good.length, left: rows.length - good.length, last: rows.at(-1)?.place };
        };
        for (let last: bigint | undefined = 0n; last !== undefined;) {
          const after: bigint = last;
          const page = await write(() => renewPage(after));
          for (let row = 0; row < page.signed; row += 1) onRow();
          left += page.left;
          last = page.last;
        }
      }
      return left;
    },
    async older() {
      const head = authenticity.currentHead();
      let damaged = 0;
      for (const { table, older } of tables) {
        for (let last: bigint | undefined = 0n; last !== undefined;) {
          const after: bigint = last;
          const rows = await read(() => older.all({ head, after, limit: pageSize }));
          if (rows.some(table.isAuthentic)) return { hasValid: true, damaged };
          damaged += rows.length;
          last = rows.at(-1)?.place;
        }
      }
      return { hasValid: false, damaged };
    },
  };
}
