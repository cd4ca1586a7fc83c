import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Sealer } from '../../../crypto/encryption.js';
import type { KeyRing } from '../../../crypto/key-ring.js';
import type { Receipt, ReceiptCodec, ReceiptStore } from '../../../keys/receipt.js';
import { stringifyJSON } from '../../../lib/json.js';
import { namesOf, type RowOf } from '../../records/signed.js';
import { insertInto, prepared, type SqlSession, type Value } from '../session.js';

/** The columns of a receipt, in the order of `receiptValues`. */
export const receiptColumns = { id: 'text', at: 'integer', sealed: 'bytes' } as const;

/** Adds a receipt with the values of `receiptValues`. */
export const insertReceipt = prepared(insertInto('receipts', namesOf(receiptColumns)));
const select = prepared('SELECT id, at, sealed FROM receipts WHERE id = $1');
const purge = prepared(
  'DELETE FROM receipts WHERE id IN (SELECT id FROM receipts WHERE at <= $1 ORDER BY at LIMIT 200) RETURNING id',
);

type ReceiptRow = RowOf<typeof receiptColumns>;

/** Returns the values of a receipt, in the order of `receiptColumns`. */
export function receiptValues({ id, at, sealed }: Receipt): Value[] {
  return [id, BigInt(at.getTime()), sealed];
}

/** The receipts of requests with an idempotency key. */
export function createReceiptStore({ all, run }: SqlSession): ReceiptStore {
  return {
    async findReceipt(id) {
      const [row] = await all<ReceiptRow>(select, [id]);
      return row && { id: row.id, at: new Date(Number(row.at)), sealed: row.sealed };
    },
    addReceipt: async (receipt) => void (await run(insertReceipt, receiptValues(receipt))),
    async purgeReceipts(upTo) {
      for (let purged = 0; ;) {
        const rows = await run(purge, [BigInt(upTo.getTime())]);
        purged += rows.length;
        if (rows.length === 0) return purged;
      }
    },
  };
}

/** Seals results with the structured clone algorithm, which keeps dates, bytes and large integers. */
export function createReceiptCodec(sealer: Sealer, ring: () => Pick<KeyRing, 'ids'>): ReceiptCodec {
  const aadOf = (id: string) => `receipts|${id}`;
  return {
    digest: (value) => createHash('sha256').update(stringifyJSON(value), 'utf8').digest('hex'),
    seal: (content, id) => sealer.seal(serialize(content).toString('base64'), aadOf(id)),
    isKeyRemoved: (sealed) => !ring().ids.includes(sealer.keyIDOf(sealed)),
    // Only texts that this service has sealed open.
    open: (sealed, id) => deserialize(Buffer.from(sealer.open(sealed, aadOf(id)), 'base64')) as unknown,
  };
}
