import type { Services } from '../../../storage/open-storage.js';
import { damagedAdvice } from '../keys/damaged-keys.js';
import { countOf } from '../../output/count.js';

/**
 * Checks the webhooks before the key ring changes. A damaged webhook can be removed by its ID, so that, unlike a key, none
 * is skipped.
 *
 * @throws {Error} if a webhook fails the integrity check
 */
export async function requireIntactWebhooks({ webhooks }: Services): Promise<void> {
  const { damaged } = await webhooks.list();
  if (damaged.length === 0) return;
  throw new Error(
    `These webhooks fail the integrity check: ${damaged.join(', ')}. Remove each with \`keyfront webhooks remove ID\` first.`,
  );
}

/** Summary of the damaged rows and keys that a command skipped. */
export function skippedSummary(rows: number, keys: number): string {
  return `${countOf(rows, 'damaged rows')} and ${countOf(keys, 'damaged keys')} were skipped. ${damagedAdvice}`;
}
