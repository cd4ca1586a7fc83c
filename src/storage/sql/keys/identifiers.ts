import type { KeyStore } from '../../../keys/ports.js';
import { readPages } from '../pages.js';
import { beforeAllKeys, isKeyHash, placesOf } from '../place.js';
import { prepared, type SqlSession } from '../session.js';

const pageSize = 100;

/** What becomes of the row of an identifier that the key has already. Its last use never goes back. */
export const replacedIdentifier = `retires = excluded.retires, silence = excluded.silence,
  last_used = CASE WHEN coalesce(identifiers.last_used, -1) > coalesce(excluded.last_used, -1)
    THEN identifiers.last_used ELSE excluded.last_used END`;

/** Finds rotated keys by their identifiers. The rows are not signed: whether a key has an identifier, the row of the key says. */
export function createIdentifiers({ dialect, all }: SqlSession): Pick<KeyStore, 'namesOf' | 'retiring' | 'silent'> {
  const { bytesOf, hashes, hexOf } = dialect;
  const name = hexOf('k.key_hash');
  // By a sub-select, which PostgreSQL does not turn into a scan. A key of another organization is left out, so that the response time does not reveal that it exists.
  const names = prepared(
    `SELECT w.hash, (
       SELECT ${name} FROM identifiers i CROSS JOIN keys k WHERE i.key_hash = ${bytesOf('w.hash')} AND k.id = i.key
         AND (CAST($2 AS text) IS NULL OR k.org = (SELECT id FROM orgs WHERE name = $2))
     ) AS name FROM ${hashes('$1')} AS w`,
  );
  const due = prepared(
    `SELECT i.retires, i.key_hash, ${name} AS name FROM identifiers i CROSS JOIN keys k
     WHERE i.retires <= $1 AND (i.retires, i.key_hash) > ($2, $3) AND k.id = i.key AND k.deleted IS NULL
     ORDER BY i.retires, i.key_hash LIMIT ${pageSize}`,
  );
  const none = Buffer.alloc(0);
  // A page has all keys that it looks at, and no name of those whose identifier is not silent: so it is short.
  const silent = prepared(
    `SELECT i.key, ${hexOf('i.key_hash')} AS hash, CASE WHEN i.last_used + i.silence <= $1 THEN (
       SELECT ${name} FROM identifiers n CROSS JOIN keys k
       WHERE n.key = i.key AND n.retires IS NULL AND n.last_used IS NOT NULL AND k.id = i.key AND k.deleted IS NULL LIMIT 1
     ) END AS name
     FROM identifiers i WHERE i.silence IS NOT NULL AND i.key > $2 ORDER BY i.key LIMIT ${pageSize}`,
  );

  return {
    async namesOf(keyHashes, orgID) {
      const wanted = keyHashes.filter(isKeyHash);
      if (wanted.length === 0) return new Map();
      const rows = await all<{ hash: string; name: string | null }>(names, [placesOf(wanted), orgID ?? null]);
      return new Map(rows.flatMap((row) => (row.name === null ? [] : [[row.hash, row.name]])));
    },
    async *retiring(upTo) {
      const time = BigInt(upTo.getTime());
      type Row = { readonly retires: bigint; readonly key_hash: Uint8Array; readonly name: string };
      const found = readPages<Row>((last) => all(due, [time, last?.retires ?? -1n, last?.key_hash ?? none]), pageSize);
      for await (const rows of found) yield rows.map((row) => row.name);
    },
    async *silent(at) {
      const time = BigInt(at.getTime());
      type Row = { readonly key: bigint; readonly hash: string; readonly name: string | null };
      const found = readPages<Row>((last) => all(silent, [time, last?.key ?? beforeAllKeys]), pageSize);
      for await (const rows of found) {
        yield rows.flatMap(({ name: keyHash, hash }) => (keyHash === null ? [] : [{ keyHash, hash }]));
      }
    },
  };
}
