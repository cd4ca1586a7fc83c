import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Sealer } from '../crypto/encryption.js';
import type { KeyRing } from '../crypto/key-ring.js';
import type { ReceiptCodec } from '../keys/receipt.js';
import { stringifyJSON } from '../lib/json.js';

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
