import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Sealer } from '../../../crypto/encryption.js';
import type { KeyRing } from '../../../crypto/key-ring.js';
import type { Receipt, ReceiptCodec, ReceiptStore } from '../../../keys/receipt.js';
import { stringifyJSON } from '../../../lib/json.js';
import { integrityError, namesOf, type RowOf } from '../../records/signed.js';
import { readPages } from '../pages.js';
import { insertInto, prepared, type SqlSession, type Value } from '../session.js';

/** The columns of a receipt, in the order of `receiptValues`. */
export const receiptColumns = { id: 'text', at: 'integer', sealed: 'bytes' } as const;

/** Adds a receipt with the values of `receiptValues`. */
export const insertReceipt = prepared(insertInto('receipts', namesOf(receiptColumns)));
const select = prepared('SELECT id, at, sealed FROM receipts WHERE id = $1');
const pageSize = 200;
const page = prepared(`SELECT id, at, sealed FROM receipts WHERE id > $1 ORDER BY id LIMIT ${pageSize}`);
const remove = prepared('DELETE FROM receipts WHERE id = $1 AND at <= $2');
const purge = prepared(
  'DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE at <= $1 ORDER BY at LIMIT 200) RETURNING id',
);

type ReceiptRow = RowOf<typeof receiptColumns>;

/** Returns the values of a receipt, in the order of `receiptColumns`. */
export function receiptValues({ id, at, sealed }: Receipt): Value[] {
  return [id, BigInt(at.getTime()), sealed];
}

const receiptOf = ({ id, at, sealed }: ReceiptRow): Receipt => ({ id, at: new Date(Number(at)), sealed });

/** The receipts of requests with an idempotency key. */
export function createReceiptStore({ all, run }: SqlSession): ReceiptStore {
  return {
    async findReceipt(id) {
      const [row] = await all<ReceiptRow>(select, [id]);
      return row && receiptOf(row);
    },
    addReceipt: async (receipt) => void (await run(insertReceipt, receiptValues(receipt))),
    removeReceipt: async (id, upTo) => void (await run(remove, [id, BigInt(upTo.getTime())])),
    async purgeReceipts(upTo) {
      for (let purged = 0; ;) {
        const rows = await run(purge, [BigInt(upTo.getTime())]);
        purged += rows.length;
        if (rows.length === 0) return purged;
      }
    },
    async *allReceipts() {
      const readAfter = (last: ReceiptRow | undefined) => all<ReceiptRow>(page, [last?.id ?? '']);
      for await (const rows of readPages(readAfter, pageSize)) yield rows.map(receiptOf);
    },
  };
}

/** Seals results with the structured clone algorithm, which keeps dates, bytes and large integers. */
export function createReceiptCodec(sealer: Sealer, ring: () => Pick<KeyRing, 'ids'>): ReceiptCodec {
  const aadOf = (id: string) => `receipts|${id}`;

  /** Any failure is one of the row: nothing of a request is in it. */
  function verified<T>({ id }: Receipt, read: () => T): T {
    try {
      return read();
    } catch (cause) {
      throw integrityError(`The receipt ${id}`, cause);
    }
  }

  return {
    digest: (value) => createHash('sha256').update(stringifyJSON(value), 'utf8').digest('hex'),
    seal: (content, { id, at }) =>
      sealer.seal(serialize({ ...content, at: at.getTime() }).toString('base64'), aadOf(id)),
    isKeyRemoved: (receipt) => verified(receipt, () => !ring().ids.includes(sealer.keyIDOf(receipt.sealed))),
    open: (receipt) =>
      verified(receipt, () => {
        // Only texts that this service has sealed open.
        const content = deserialize(Buffer.from(sealer.open(receipt.sealed, aadOf(receipt.id)), 'base64')) as object;
        // Receipts of 0.2.0 have no time in them.
        if ('at' in content && content.at !== receipt.at.getTime()) throw new Error('The time was changed.');
        return content;
      }),
  };
}
