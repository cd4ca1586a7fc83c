import { storedCounters, type QuotaManager, type QuotaOutbox } from '../../keys/quota/quota-manager.js';
import type { ReadBudget } from '../../keys/read-budget.js';
import type { KeyTransition, KeyStore } from '../../keys/ports.js';
import type { Telemetry } from '../../telemetry/ports.js';
import type { RowSigner } from '../../crypto/row-signer.js';
import { keyFromRow, keyToRow, termsOf, type KeyRow } from '../records/key.js';
import { createPreparation, isLarge, type PreparedChange } from '../prepared-change.js';
import { createSignedTable, type SignedRow } from '../records/signed.js';
import { createTimeSlices, mapInSlices, type TimeSlices } from '../time-slices.js';
import { prepared } from '../sql/session.js';
import { type PgPool, type Session } from './pool.js';
import { readCounters } from '../sql/keys/counters.js';
import { createGroupWrite, type WriteCommand } from './group-write.js';
import { createHistory } from '../sql/keys/history.js';
import { createKeyMaintenance } from '../sql/keys/key-maintenance.js';
import { revisionLayouts, type RevisionRow } from '../records/revision.js';
import { createKeyLists } from '../sql/keys/key-lists.js';
import { createPgWideReader } from './wide-reader.js';
import { createKeyRows } from './key-rows.js';
import { writeKeys, type KeyWrite } from './key-writes.js';
import { createQuotaOutbox } from '../sql/keys/quota-outbox.js';
import { createPgSession } from './session.js';
import { isBindableText, postgresDialect } from '../sql/dialect.js';

const sizes = prepared(
  `SELECT count(*) AS count, coalesce(sum(octet_length(definition)), 0)::bigint AS bytes FROM keys
   WHERE key_hash = ANY ($1::text[]) AND ($2::text IS NULL OR org_id = $2)`,
);

async function takeSizes(
  session: Session,
  hashes: readonly string[],
  reads: ReadBudget,
  orgID: string | undefined,
): Promise<void> {
  const [found] = await session.query<{ count: bigint; bytes: bigint }>(sizes, [
    hashes.filter(isBindableText),
    orgID ?? null,
  ]);
  reads.take('keys', Number(found?.count ?? 0n), Number(found?.bytes ?? 0n));
}

/**
 * The key store and the live counters in a PostgreSQL database, which any number of processes may share: nothing is
 * cached between two calls. Reads that may look at many rows have connections of their own, `wide`. Writes
 * are durable when they resolve. Keys are read from verified rows only; counts and sums are not verified.
 */
export function createKeyStore(
  connections: PgPool,
  signer: RowSigner,
  watch: Telemetry = {},
  wide: PgPool = connections,
  slices: TimeSlices = createTimeSlices(),
): KeyStore & QuotaManager & QuotaOutbox {
  const { run } = connections;
  const rows = createKeyRows(signer);
  const reader = createPgWideReader(wide);
  const { table } = rows;
  const session = createPgSession(connections);
  const revisions = createSignedTable<RevisionRow>(signer, 'audit', revisionLayouts);
  const change = createGroupWrite(connections, rows, watch, slices);
  const { outbox, signedRowOf } = createQuotaOutbox(session, signer);

  const { prepare, prepareInSlices } = createPreparation({
    signedKey: table.signed,
    signedEntry: revisions.signed,
    slices,
  });
  const writeCommandOf = (ready: PreparedChange | undefined): WriteCommand<KeyTransition | undefined> => {
    if (!ready) return { result: undefined };
    const { stored, change: changed, row, entry } = ready;
    return {
      next: row,
      entry,
      quotaChange: changed.quotaChange && signedRowOf(changed.quotaChange),
      result: changed,
      terms: { before: stored ? termsOf(stored) : new Set(), after: termsOf(changed.next) },
    };
  };

  async function findRow(keyHash: string, orgID?: string): Promise<SignedRow<KeyRow> | undefined> {
    const found = await run((connection) => rows.lookUp(connection, [keyHash], orgID));
    // Verified in a time slice: the signature covers the definition.
    await slices.next();
    return found.get(keyHash)?.read();
  }

  return {
    ...outbox,
    ...storedCounters,
    ...createHistory(session, signer, findRow, slices),
    ...createKeyMaintenance(session, signer),
    async find(keyHash, orgID) {
      const row = await findRow(keyHash, orgID);
      return row && keyFromRow(row);
    },
    async findMany(keyHashes, reads, orgID) {
      const hashes = [...new Set(keyHashes)];
      const found = await run(async (connection) => {
        if (reads && hashes.length > 1) await takeSizes(connection, hashes, reads, orgID);
        return rows.lookUp(connection, hashes, orgID);
      });
      const keys = await mapInSlices(
        slices,
        found.values(),
        (one) => {
          const row = one.read();
          return row && keyFromRow(row);
        },
        reads,
      );
      return keys.filter((key) => key !== undefined);
    },
    ...createKeyLists({
      dialect: postgresDialect,
      reader,
      slices,
      keyOf: (row) => keyFromRow(rows.authentic(row)),
    }),
    update: (keyHash, apply, orgID) =>
      change(
        keyHash,
        (row) =>
          isLarge(row) ? prepareInSlices(row, apply).then(writeCommandOf) : writeCommandOf(prepare(row, apply)),
        orgID,
      ),
    reseal: (keyHash, apply) =>
      change(keyHash, (row) => ({
        next: row && table.signed(keyToRow(apply(keyFromRow(row)), row.history_link)),
        result: undefined,
      })),
    add: (keys) => (keys.length === 0 ? Promise.resolve([]) : addAll(keys)),
    counters: readCounters(postgresDialect, reader),
    consume: (keyHash, decide, orgID) =>
      change(
        keyHash,
        (row) => {
          const { next, result } = decide(row && keyFromRow(row));
          if (!row || !next) return { result };
          return { next: table.signed({ ...row, quota_used: next.used, quota_renews: next.renews ?? null }), result };
        },
        orgID,
      ),
  };

  /** Adds all in one statement, so all or none. Another process may add one of the keys first. */
  function addAll(keys: readonly KeyTransition[]): Promise<boolean[]> {
    return run(async (connection) => {
      const found = await rows.lookUp(connection, [...new Set(keys.map(({ next }) => next.keyHash))]);
      const writes = new Map<string, { readonly index: number; readonly write: KeyWrite }>();
      for (const [index, added] of keys.entries()) {
        const { keyHash } = added.next;
        if (found.get(keyHash)?.read() !== undefined || writes.has(keyHash)) continue;
        const ready = prepare(undefined, () => added);
        if (!ready) continue;
        const { row, entry } = ready;
        const addedTerms = [...termsOf(added.next)];
        const one = { before: undefined, row, entries: [entry], quotaChanges: [], addedTerms, droppedTerms: [] };
        writes.set(keyHash, { index, write: one });
      }
      if (writes.size === 0) return keys.map(() => false);
      const written = await writeKeys(
        connection,
        [...writes.values()].map((one) => one.write),
      );
      return keys.map(({ next }, index) => writes.get(next.keyHash)?.index === index && written.has(next.keyHash));
    });
  }
}
