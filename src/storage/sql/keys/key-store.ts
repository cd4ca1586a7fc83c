import type { RowSigner } from '../../../crypto/row-signer.js';
import type { KeyStore, KeyTransition } from '../../../keys/ports.js';
import type { QuotaManager, QuotaOutbox } from '../../../keys/quota/quota-manager.js';
import { keyFromRow, keyToRow, type KeyRow } from '../../records/key.js';
import type { SignedRow } from '../../records/signed.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { isBindableText } from '../dialect.js';
import type { SqlSession, WideReader } from '../session.js';
import { readCounters } from './counters.js';
import { createHistory } from './history.js';
import { createKeyHeads } from './key-heads.js';
import { createKeyMaintenance } from './key-maintenance.js';
import { createKeyLists } from './key-lists.js';
import { createRowChanges, type KeyLookup, type KeyRowStatements, type KeyWriter } from './key-rows.js';
import { createQuotaOutbox } from './quota-outbox.js';
import { createReceiptStore } from './receipts.js';

/** What an engine gives to the key store. */
interface KeyStoreDeps {
  readonly session: SqlSession;
  readonly rows: KeyRowStatements;
  readonly writer: KeyWriter;
  /** Reads keys of known hashes. */
  readonly reader: WideReader;
  /** Reads that may look at many rows. */
  readonly wideReader: WideReader;
  readonly slices: TimeSlices;
}

/**
 * The key store and the live counters in a database. Writes are durable when they resolve. Keys are read from verified
 * rows only; counts and sums are not verified. The signature covers the whole row, so that a list reads whole rows also
 * when few of their columns are shown.
 */
export function createSqlKeyStore(
  { session, rows, writer, reader, wideReader, slices }: KeyStoreDeps,
  signer: RowSigner,
): KeyStore & QuotaManager & QuotaOutbox {
  const { dialect, all } = session;
  const { change } = writer;
  const rowChange = createRowChanges(signer, slices);

  /** Verifies a row and converts it within one time slice: both take milliseconds for a large definition. */
  async function findAs<Made>(
    convert: (row: SignedRow<KeyRow>) => Made,
    keyHash: string,
    orgID?: string,
  ): Promise<Made | undefined> {
    if (!isBindableText(keyHash)) return undefined;
    const values = [keyHash, orgID ?? null];
    const [row] = await all<SignedRow<KeyRow>>(rows.selectOne, values);
    const slice = slices.next();
    if (slice) await slice;
    const found = row ? rows.verified(row) : rows.rowOf((await all<KeyLookup>(rows.lookUpOne, values))[0]);
    return found && convert(found);
  }

  /** Rows of the keys that were not found before. Another process may have added some in between. */
  async function findMissing(keyHashes: readonly string[], orgID: string | undefined): Promise<SignedRow<KeyRow>[]> {
    if (keyHashes.length === 0) return [];
    const found = await all<KeyLookup>(rows.lookUpMany, [keyHashes, orgID ?? null]);
    return found.flatMap((one) => rows.rowOf(one) ?? []);
  }

  const keyOf = (row: SignedRow<KeyRow>) => keyFromRow(rows.verified(row));

  return {
    ...createQuotaOutbox(session, signer),
    ...createHistory(session, signer, (keyHash) => findAs((row) => row, keyHash), slices),
    ...createReceiptStore(session),
    ...createKeyMaintenance(session, signer),
    ...createKeyHeads(session, signer),
    find: (keyHash, orgID) => findAs(keyFromRow, keyHash, orgID),
    async findMany(keyHashes, reads, orgID) {
      const hashes = [...new Set(keyHashes)].filter(isBindableText);
      const limit = { maxBytes: reads?.bytesLeft() ?? Number.MAX_SAFE_INTEGER, mayCut: false };
      const { rows: read, found } = await reader.keys<SignedRow<KeyRow>>(rows.sizesOf(hashes, orgID), limit, reads);
      reads?.take('keys', found.count, found.bytes);
      const known = new Set(read.map((row) => row.key_hash));
      const missing = hashes.filter((keyHash) => !known.has(keyHash));
      return mapInSlices(slices, [...read, ...(await findMissing(missing, orgID))], keyOf, reads);
    },
    ...createKeyLists({ session, reader: wideReader, slices, keyOf }),
    // Counters are in the rows of their keys: a change of a key changes its counter, and nothing is pending.
    receiptsOf: () => undefined,
    storedQuota: ({ quota }) => quota,
    readCounters: (keyHashes) =>
      Promise.resolve(
        keyHashes.map(
          () =>
            ({ quota }) =>
              quota,
        ),
      ),
    pendingChange: () => undefined,
    applyPending: () => Promise.resolve('APPLIED'),
    counters: readCounters(dialect, wideReader),
    update: (keyHash, apply, orgID) => change(keyHash, rowChange(apply), orgID),
    reseal: (keyHash, reseal) =>
      change(keyHash, {
        apply: (row) => ({
          next: row && rows.signed(keyToRow(reseal(keyFromRow(row)), row.history_link)),
          result: undefined,
        }),
      }),
    consume: (keyHash, decide, orgID) =>
      change(
        keyHash,
        {
          apply: (row) => {
            const { next, result, receipt } = decide(row && keyFromRow(row));
            if (!row || !next) return { result };
            const signed = rows.signed({ ...row, quota_used: next.used, quota_renews: next.renews ?? null });
            return { next: signed, result, receipt };
          },
        },
        orgID,
      ),
    async add(keys) {
      const first = new Map<string, KeyTransition>();
      for (const key of keys) if (!first.has(key.next.keyHash)) first.set(key.next.keyHash, key);
      const changes = new Map([...first].map(([keyHash, key]) => [keyHash, rowChange(() => key)]));
      const added = changes.size > 0 ? await writer.add(changes) : undefined;
      return keys.map((key) => first.get(key.next.keyHash) === key && added?.has(key.next.keyHash) === true);
    },
  };
}
