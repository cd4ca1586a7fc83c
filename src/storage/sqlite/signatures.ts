import type { Database } from 'better-sqlite3';
import type { Authenticity } from '../records/authenticity.js';
import { revisionLayouts } from '../records/revision.js';
import { credentialLayouts } from '../records/credential.js';
import type { Signatures } from '../records/signatures.js';
import type { WriteGate } from './write-gate.js';
import { keyLayouts } from '../records/key.js';
import { quotaChangeLayouts } from '../records/quota-change.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { webhookLayouts } from '../records/webhook.js';

const pageSize = 200;

type AnyRow = Readonly<Record<string, unknown>>;

/** A row with the place where it stands, whatever table it is of. */
type Placed<Row> = SignedRow<Row> & { readonly place: bigint };

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
