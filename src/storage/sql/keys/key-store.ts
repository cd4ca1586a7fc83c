import type { RowSigner } from '../../../crypto/row-signer.js';
import type { StoredKey } from '../../../keys/key.js';
import type { KeyStore, KeyTransition } from '../../../keys/ports.js';
import type { QuotaDecision, QuotaOutbox } from '../../../keys/quota/external-counters.js';
import type { Telemetry } from '../../../telemetry/ports.js';
import { identifierRowsOf, keyToRow, type KeyRow, type StoredKeyRow } from '../../records/key-records.js';
import type { SignedRow } from '../../records/signed.js';
import { mapInSlices, type TimeSlices } from '../../time-slices.js';
import { isKeyHash, placeOf, placesOf } from '../place.js';
import type { SqlSession, WideReader } from '../session.js';
import { readCounters } from './counters.js';
import { createIdentifiers } from './identifiers.js';
import { createHistory } from './history.js';
import { createNotices } from './notices.js';
import { createKeyMaintenance } from './key-maintenance.js';
import { createKeyLists } from './key-lists.js';
import {
  createRowChanges,
  type KeyLookup,
  type KeyRowStatements,
  type KeyWriter,
  type WriteCommand,
} from './key-rows.js';
import { createQuotaOutbox } from './quota-outbox.js';
import { createReceiptStore } from './receipts.js';

/** The dependencies of the key store. */
export interface KeyStoreDeps {
  readonly session: SqlSession;
  readonly rows: KeyRowStatements;
  readonly writer: KeyWriter;
  readonly tracer: Telemetry['tracer'];
  /** Reads keys of known hashes. */
  readonly reader: WideReader;
  /** Reads that may look at many rows. */
  readonly wideReader: WideReader;
  readonly slices: TimeSlices;
  /** Called after every commit that has added to a history. */
  readonly onChange: () => void;
}

/**
 * The key store and the live counters in a database. Writes are durable when they resolve. Keys are read from verified
 * rows only; counts and sums are not verified. The signature covers the whole row, so that a list reads whole rows also
 * when few of their columns are shown.
 */
export function createSqlKeyStore(
  { session, rows, writer, tracer, reader, wideReader, slices, onChange }: KeyStoreDeps,
  signer: RowSigner,
): KeyStore & QuotaOutbox {
  const { dialect, all } = session;
  const change: KeyWriter['change'] = (keyHash, rowChange, orgID) =>
    tracer
      ? tracer.withSpan('commit', {}, (setAttributes) =>
          writer.change(keyHash, rowChange, orgID, (size) => setAttributes({ 'keyfront.commit.batch_size': size })),
        )
      : writer.change(keyHash, rowChange, orgID);
  const rowChange = createRowChanges(signer, rows);
  const identifiers = createIdentifiers(session);

  /** Verifies a row and converts it within one time slice: both take milliseconds for a large definition. */
  async function findAs<Made>(
    convert: (row: StoredKeyRow) => Made,
    keyHash: string,
    orgID?: string,
  ): Promise<Made | undefined> {
    if (!isKeyHash(keyHash)) return undefined;
    const values = [keyHash, placeOf(keyHash), orgID ?? null];
    const [row] = await all<StoredKeyRow>(rows.selectOne, values);
    const slice = slices.next();
    if (slice) await slice;
    const found = row ? rows.verified(row) : rows.rowOf((await all<KeyLookup>(rows.lookUpOne, values))[0], orgID);
    return found && convert(found);
  }

  /** Rows of the keys that were not found before. Another process may have added some in between. */
  async function findMissing(keyHashes: readonly string[], orgID: string | undefined): Promise<StoredKeyRow[]> {
    if (keyHashes.length === 0) return [];
    const found = await all<KeyLookup>(rows.lookUpMany, [placesOf(keyHashes), orgID ?? null]);
    return found.flatMap((one) => rows.rowOf(one, orgID) ?? []);
  }

  /** Hashes of identifiers of these new keys that other keys have. The transaction checks those of the keys themselves. */
  async function hashesTaken(keys: readonly KeyTransition[]): Promise<Set<string>> {
    const hashes = keys.flatMap(hashesOf);
    const own = new Set(keys.map(({ next }) => next.keyHash));
    const others = hashes.filter((hash) => !own.has(hash));
    const found = await findMissing(others, undefined);
    return new Set([...(await identifiers.namesOf(hashes)).keys(), ...found.map((row) => row.key_hash)]);
  }

  function resealed(
    row: SignedRow<KeyRow> | undefined,
    reseal: Parameters<KeyStore['reseal']>[1],
  ): WriteCommand<undefined> {
    const stored = row && rows.keyOf(row);
    const next = row && stored && keyToRow(reseal(stored), row.history_link);
    return { next: next && rows.signed(next), result: undefined };
  }

  function consumed<T>(
    row: SignedRow<KeyRow> | undefined,
    decide: (stored: StoredKey | undefined) => QuotaDecision<T>,
  ): WriteCommand<T> {
    const { next, result, receipt } = decide(row && rows.keyOf(row));
    return row && next ? { next: rows.withCounter(row, next), result, receipt } : { result };
  }

  const keyOf = (row: SignedRow<KeyRow>) => rows.keyOf(rows.verified(row));

  return {
    ...createQuotaOutbox(session, signer),
    ...createHistory(session, signer, (keyHash) => findAs((row) => row, keyHash), slices),
    ...identifiers,
    ...createReceiptStore(session),
    ...createNotices(session, signer, slices, onChange),
    ...createKeyMaintenance(session, signer, onChange),
    find: (keyHash, orgID) => findAs(rows.keyOf, keyHash, orgID),
    recent: rows.recent,
    async findMany(keyHashes, reads, orgID) {
      const hashes = [...new Set(keyHashes)].filter(isKeyHash);
      const limit = { maxBytes: reads?.bytesLeft() ?? Number.MAX_SAFE_INTEGER, mayCut: false };
      const { rows: read, found } = await reader.keys<StoredKeyRow>(rows.sizesOf(hashes, orgID), limit, reads);
      reads?.take('keys', found.count, found.bytes);
      const known = new Set(read.map((row) => row.key_hash));
      const missing = hashes.filter((keyHash) => !known.has(keyHash));
      return mapInSlices(slices, [...read, ...(await findMissing(missing, orgID))], keyOf, reads);
    },
    ...createKeyLists({ session, reader: wideReader, slices, keyOf }),
    counters: readCounters(dialect, wideReader),
    async update(keyHash, apply, orgID) {
      const transition = await change(keyHash, rowChange(apply), orgID);
      if (transition) onChange();
      return transition;
    },
    reseal: (keyHash, reseal) => change(keyHash, (row) => resealed(row, reseal)),
    consume: (keyHash, decide, orgID) => change(keyHash, (row) => consumed(row, decide), orgID),
    async add(keys) {
      const taken = await hashesTaken(keys);
      const first = new Map<string, KeyTransition>();
      for (const key of keys) {
        const hashes = hashesOf(key);
        if (hashes.some((hash) => taken.has(hash))) continue;
        for (const hash of hashes) taken.add(hash);
        first.set(key.next.keyHash, key);
      }
      const changes = new Map([...first].map(([keyHash, key]) => [keyHash, rowChange(() => key)]));
      const added = changes.size > 0 ? await writer.add(changes) : undefined;
      onChange();
      return keys.map((key) => first.get(key.next.keyHash) === key && added?.has(key.next.keyHash) === true);
    },
  };
}

/** The hashes by which a key is found: its own, and those of its identifiers. */
function hashesOf({ next }: KeyTransition): string[] {
  return [...new Set([next.keyHash, ...identifierRowsOf(next).map(({ keyHash }) => keyHash)])];
}
