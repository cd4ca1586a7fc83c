import type { KeyRow } from '../records/key.js';
import type { SignedRow, SignedTable } from '../records/signed.js';
import { mapInSlices, type TimeSlices } from '../time-slices.js';
import { prepared } from '../sql/session.js';
import type { PgPool } from './pool.js';

const deletedBefore = prepared(
  `SELECT deleted, key_hash, octet_length(definition)::bigint AS size FROM keys
   WHERE deleted < $1 AND (deleted, key_hash) > ($2, $3) ORDER BY deleted, key_hash LIMIT 500`,
);
const deletedRows = prepared('SELECT * FROM keys WHERE key_hash = ANY ($1::text[]) AND deleted < $2');
// Only what is still as it was read: a key may have been restored since.
const remove = prepared(
  `WITH gone AS (
     DELETE FROM keys k USING unnest($1::text[], $2::bytea[]) AS d (key_hash, mac)
     WHERE k.key_hash = d.key_hash AND k.mac = d.mac RETURNING k.key_hash
   ),
   terms AS (DELETE FROM key_terms WHERE key_hash IN (SELECT key_hash FROM gone)),
   entries AS (DELETE FROM audit WHERE key_hash IN (SELECT key_hash FROM gone)),
   changes AS (DELETE FROM quota_changes WHERE key_hash IN (SELECT key_hash FROM gone))
   SELECT key_hash FROM gone`,
);

/** How much of the keys one transaction of a purge reads and removes. One key may have more. */
const maxPurged = 100;
const maxPurgedBytes = 1024 * 1024;

interface DeletedKey {
  readonly deleted: bigint;
  readonly key_hash: string;
  readonly size: bigint;
}

/** The hashes of the keys in parts that are purged one after another. */
function* purgeParts(found: readonly DeletedKey[]): Iterable<string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const { key_hash, size } of found) {
    bytes += Number(size);
    if (part.length > 0 && (part.length === maxPurged || bytes > maxPurgedBytes)) {
      yield part;
      part = [];
      bytes = Number(size);
    }
    part.push(key_hash);
  }
  if (part.length > 0) yield part;
}

/** Removes the keys that were deleted before the moment, with all that belongs to them. Returns how many. */
export async function purgeKeys(
  run: PgPool['run'],
  table: SignedTable<KeyRow>,
  slices: TimeSlices,
  moment: Date,
): Promise<number> {
  const before = BigInt(moment.getTime());
  let purged = 0;
  for (let place: readonly [bigint, string] | undefined = [-(2n ** 63n), '']; place !== undefined;) {
    const after: readonly [bigint, string] = place;
    const found = await run((session) => session.query<DeletedKey>(deletedBefore, [before, ...after]));
    for (const part of purgeParts(found)) {
      const deleted = await run((session) => session.query<SignedRow<KeyRow>>(deletedRows, [part, before]));
      // Damaged rows stay for an operator to inspect: the date may be what was damaged.
      const verified = await mapInSlices(slices, deleted, (row) => (table.isAuthentic(row) ? [row] : []));
      const good = verified.flat();
      if (good.length === 0) continue;
      const gone = await run((session) =>
        session.write(remove, [good.map(({ key_hash }) => key_hash), good.map(({ mac }) => mac)]),
      );
      purged += gone.length;
    }
    const last = found.at(-1);
    place = last && [last.deleted, last.key_hash];
  }
  return purged;
}
