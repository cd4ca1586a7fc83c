import { join } from 'node:path';
import { createRandom } from '../../support/generated.js';
import { createClient, type Client, type Sent } from './client.js';
import { gatewayKey } from './gateway-writers.js';
import type { Entry } from './ledger.js';
import { sendOperation } from './operation.js';
import { importKeys, marked, type DataFolder } from './workspace.js';
import { repeat, type Load, type Writing } from './writers.js';

/*
 * Bulk changes, resets of a quota between consumptions, and concurrent updates of a key that expect the same version.
 * The writers of `writers.ts` change one key at a time.
 */

const bulkKeys = Array.from({ length: 6 }, (_, index) => `bulk-${index}`);
const contendedKey = 'contended';
const countedKey = 'counted';
const contenders = 3;

/** Imports the keys that these writers change. */
export async function addKeysOfMany({ data }: DataFolder, folder: string): Promise<void> {
  const file = join(folder, 'many.jsonl');
  await importKeys(data, file, [
    ...bulkKeys.map((key_id) => ({ key_id, ...marked, apply_policies: ['bulk'] })),
    { key_id: contendedKey, ...marked },
    { key_id: countedKey, ...marked, apply_policies: ['counted'], quota_max: 1_000_000_000_000 },
    gatewayKey,
  ]);
}

/** Starts writers, as `startWriting`, with these changes. */
export function startWritingMany({ port, folder, seed, name, ledger }: Load): Writing {
  const client = createClient(port);
  const { below } = createRandom(seed * 37);

  const contend = (count: number) => updateAtOnce(client, folder, `${name}-v-${count}`);
  /** One writer only, so that the order in the ledger is that of execution. */
  const count = async (count: number) => {
    const mark = `${name}-q-${count}`;
    if (below(3) > 0) {
      const operation = { kind: 'consume', api: 'rest', keyID: countedKey, mark, amount: 1 + below(9) } as const;
      return [await sendOperation(client, folder, operation)];
    }
    return changeMany(client, folder, { policy: 'counted', keyIDs: [countedKey], mark, isReset: true });
  };
  const change = (writer: number) => (count: number) =>
    changeMany(client, folder, {
      policy: 'bulk',
      keyIDs: bulkKeys,
      mark: `${name}-b${writer}-${count}`,
      isReset: false,
    });

  return repeat(client, ledger, [contend, count, change(0), change(1)]);
}

/**
 * Changes single keys without a fault and without other writers, so that the results are exact: concurrent updates that
 * expect the same version, and a consumption after a reset.
 */
export async function changeWithoutFaults({ port, folder, name, ledger }: Omit<Load, 'seed'>): Promise<void> {
  const client = createClient(port);
  const mark = `${name}-exact`;
  ledger.push(...(await updateAtOnce(client, folder, mark)));
  ledger.push(...(await changeMany(client, folder, { policy: 'counted', keyIDs: [countedKey], mark, isReset: true })));
  ledger.push(
    await sendOperation(client, folder, { kind: 'consume', api: 'rest', keyID: countedKey, mark, amount: 5 }),
  );
  client.close();
}

/** Updates the contended key, and then sends concurrent updates that all expect the version of this update. */
async function updateAtOnce(client: Client, folder: DataFolder, mark: string): Promise<Entry[]> {
  const update = { kind: 'update', api: 'rest', keyID: contendedKey, amount: 0 } as const;
  const first = await sendOperation(client, folder, { ...update, mark: `${mark}-first` });
  if (first.outcome !== 'ok') return [first];
  const others = Array.from({ length: contenders }, (_, contender) =>
    sendOperation(client, folder, { ...update, mark: `${mark}-${contender}`, expectedVersion: first.version }),
  );
  return [first, ...(await Promise.all(others))];
}

interface Bulk {
  readonly policy: string;
  readonly keyIDs: readonly string[];
  readonly mark: string;
  readonly isReset: boolean;
}

interface Item {
  readonly orgKey: { readonly keyID: string };
  readonly change: { readonly version: number } | null;
  readonly error: { readonly code: string } | null;
}

const mutation = `mutation ($policy: String!, $patch: PatchKeyInput!, $isReset: Boolean!) {
  done: updateOrgKeys(filter: { policy: $policy }, patch: $patch, resetQuota: $isReset, dryRun: false) {
    items { orgKey { keyID } change { version } error { code } } } }`;

/** Changes every key of a policy in one request, and returns the entry of each key. */
async function changeMany(client: Client, { service }: DataFolder, bulk: Bulk): Promise<Entry[]> {
  const { policy, keyIDs, mark, isReset } = bulk;
  const sent = performance.now();
  const variables = { policy, isReset, patch: { alias: mark, tags: [mark], hmacString: mark } };
  const reply = await client.send(
    'POST',
    '/graphql',
    { 'x-svc-authorization': service },
    JSON.stringify({ query: mutation, variables }),
  );
  const items = itemsOf(reply);
  const base = {
    kind: 'update',
    api: 'graphql',
    mark,
    amount: 0,
    isReset,
    sent,
    completed: performance.now(),
  } as const;
  const response = typeof reply === 'string' ? reply : `${reply.status} ${reply.text.slice(0, 600)}`;
  return keyIDs.map((keyID) => ({ ...base, keyID, response, ...outcomeOf(reply, items, keyID) }));
}

function itemsOf(reply: Sent): readonly Item[] | undefined {
  if (typeof reply === 'string') return undefined;
  try {
    return (JSON.parse(reply.text) as { data?: { done?: { items: Item[] } } | null }).data?.done?.items;
  } catch {
    return undefined;
  }
}

function outcomeOf(
  reply: Sent,
  items: readonly Item[] | undefined,
  keyID: string,
): Pick<Entry, 'outcome' | 'version' | 'flaw'> {
  if (reply === 'unreached') return { outcome: 'rejected' };
  if (reply === 'no response') return { outcome: 'maybe' };
  if (!items) {
    const isOpen = /"code":"(UNAVAILABLE|INTERNAL)"/.test(reply.text);
    return { outcome: 'maybe', flaw: isOpen ? undefined : 'is no report of a bulk change' };
  }
  const item = items.find(({ orgKey }) => orgKey.keyID === keyID);
  if (!item) return { outcome: 'maybe', flaw: `leaves ${keyID} out` };
  if (item.change) return { outcome: 'ok', version: item.change.version };
  const code = item.error?.code ?? 'MALFORMED';
  if (code === 'CONFLICT') return { outcome: 'rejected' };
  return { outcome: 'maybe', flaw: code === 'UNAVAILABLE' ? undefined : `fails for ${keyID} with ${code}` };
}
