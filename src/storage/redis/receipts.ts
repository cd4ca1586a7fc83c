import { receiptLifetimeMs } from '../../keys/commands/idempotency.js';
import type { Receipt, ReceiptSource } from '../../keys/receipt.js';
import type { Redis } from './client.js';
import { receiptName } from './key-names.js';
import { readReceiptScript } from './lua.js';

/** The receipts of consumptions of one key, which Redis removes after 24 hours. */
export function receiptsOfCounter(redis: Redis, pattern: string, keyHash: string): ReceiptSource {
  return {
    async findReceipt(id) {
      const [text = ''] = await redis.read(readReceiptScript, [receiptName(pattern, keyHash, id)]);
      const [at, sealed] = text.split(':');
      return sealed === undefined ? undefined : { id, at: new Date(Number(at)), sealed: Buffer.from(sealed, 'base64') };
    },
    // `writeScript` replaces expired ones.
    purgeReceipts: () => Promise.resolve(0),
  };
}

/** The arguments of `writeScript` for a receipt, after those of the counter. */
export function receiptArguments({ at, sealed }: Receipt, count: bigint | undefined): string[] {
  const moment = at.getTime();
  return [
    count === undefined ? '' : String(count),
    `${moment}:${Buffer.from(sealed).toString('base64')}`,
    String(moment - receiptLifetimeMs),
    String(receiptLifetimeMs),
  ];
}
