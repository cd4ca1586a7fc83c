import { revisionLayouts } from '../records/revision.js';
import type { Authenticity } from '../records/authenticity.js';
import { credentialLayouts } from '../records/credential.js';
import { keyLayouts } from '../records/key.js';
import { quotaChangeLayouts } from '../records/quota-change.js';
import type { Signatures } from '../records/signatures.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { webhookLayouts } from '../records/webhook.js';
import { prepared, type PgPool } from './pool.js';

const pageSize = 200;

type AnyRow = Readonly<Record<string, unknown>>;
/** A row with the place where it stands, whatever table it is of. */
type Placed = SignedRow<AnyRow> & { readonly place: string | bigint };

export function createSignatures({ run }: PgPool, authenticity: Authenticity): Signatures {
  const tables = [
    { name: 'keys', layouts: keyLayouts, place: 'key_hash', type: 'text', start: '' },
    { name: 'audit', layouts: revisionLayouts, place: 'id', type: 'bigint', start: 0n },
    { name: 'credentials', layouts: credentialLayouts, place: 'id', type: 'text', start: '' },
    { name: 'webhooks', layouts: webhookLayouts, place: 'id', type: 'text', start: '' },
    { name: 'quota_changes', layouts: quotaChangeLayouts, place: 'id', type: 'bigint', start: 0n },
  ].map(({ name, layouts, place, type, start }) => ({
    start,
    table: createSignedTable<AnyRow>(authenticity, name, layouts),
    // The first byte is the layout, and the key that signed comes after it.
    older: prepared(
      `SELECT ${place} AS place, * FROM ${name} WHERE ${place} > $2::${type} AND substr(mac, 2, length($1::bytea)) <> $1::bytea
       ORDER BY ${place} LIMIT $3`,
    ),
    // A row that was written since was signed then.
    sign: prepared(
      `UPDATE ${name} r SET mac = d.mac FROM unnest($1::${type}[], $2::bytea[], $3::bytea[]) AS d (place, mac, mac_before)
       WHERE r.${place} = d.place AND r.mac = d.mac_before RETURNING r.${place}`,
    ),
  }));

  return {
    async renew(onRow) {
      let left = 0;
      for (const { table, start, older, sign } of tables) {
        for (let last: string | bigint | undefined = start; last !== undefined;) {
          const after: string | bigint = last;
          const rows: Placed[] = await run((session) =>
            session.query<Placed>(older, [authenticity.currentHead(), after, pageSize]),
          );
          const good = rows.filter(table.isAuthentic);
          const columns = [
            good.map(({ place }) => place),
            good.map((row) => table.signed(row).mac),
            good.map(({ mac }) => mac),
          ];
          if (good.length > 0) await run((session) => session.write(sign, columns));
          for (let row = 0; row < good.length; row += 1) onRow();
          left += rows.length - good.length;
          last = rows.at(-1)?.place;
        }
      }
      return left;
    },
    async older() {
      const head = authenticity.currentHead();
      let damaged = 0;
      for (const { table, start, older } of tables) {
        for (let last: string | bigint | undefined = start; last !== undefined;) {
          const after: string | bigint = last;
          const rows: Placed[] = await run((session) => session.query<Placed>(older, [head, after, pageSize]));
          if (rows.some(table.isAuthentic)) return { hasValid: true, damaged };
          damaged += rows.length;
          last = rows.at(-1)?.place;
        }
      }
      return { hasValid: false, damaged };
    },
  };
}
