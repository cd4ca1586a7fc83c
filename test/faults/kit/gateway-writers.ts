import { createRandom } from '../../support/generated.js';
import { createClient } from './client.js';
import type { Finding } from './compare.js';
import type { Entry } from './ledger.js';
import { sendOperation } from './operation.js';
import { marked } from './workspace.js';
import { repeat, type Load, type Writing } from './writers.js';

/*
 * Gateways that verify requests with one key, whose quota runs out. Each request has an identifier: one that a kill left
 * without an answer is repeated after the next start, and must be counted once.
 */

const maxGranted = 3_000;
const gateways = 4;
const operation = { kind: 'consume', api: 'rest', keyID: 'gateway', isRepeatable: true } as const;

/** The key, for `keys import`. */
export const gatewayKey = { key_id: operation.keyID, ...marked, quota_max: maxGranted };

/** Starts the gateways, as `startWriting`. */
export function startVerifying({ port, folder, seed, name, ledger }: Load): Writing {
  const client = createClient(port);
  const { below } = createRandom(seed * 41);
  const verify = (gateway: number) => async (count: number) => {
    const request = { ...operation, mark: `${name}-g${gateway}-${count}`, amount: 1 + below(3) };
    return [await sendOperation(client, folder, request)];
  };
  return repeat(
    client,
    ledger,
    Array.from({ length: gateways }, (_, gateway) => verify(gateway)),
  );
}

/** Repeats the verifications that were not answered. Their results take the place of the unknown ones. */
export async function repeatUnanswered({
  port,
  folder,
  ledger,
}: Pick<Load, 'port' | 'folder' | 'ledger'>): Promise<void> {
  const client = createClient(port);
  for (const [index, { mark, amount, isRepeatable, outcome }] of ledger.entries()) {
    if (isRepeatable !== true || outcome !== 'maybe') continue;
    ledger[index] = await sendOperation(client, folder, { ...operation, mark, amount });
  }
  client.close();
}

/** Returns whether more was granted than the quota. */
export function overGranted(ledger: readonly Entry[]): Finding[] {
  const granted = ledger
    .filter(({ keyID, outcome }) => keyID === operation.keyID && outcome === 'ok')
    .reduce((sum, { amount }) => sum + amount, 0);
  return granted <= maxGranted ? [] : [{ kind: 'invented', what: `${granted} of ${maxGranted} were granted` }];
}
