import type { TypedDocument } from './document.js';
import type { OperationSender } from './edit.js';
import { KeyfrontError } from './errors.js';
import {
  DeliverKeyDocument,
  DeliverKeysDocument,
  KeyDeliveryDocument,
  type DeliveredFragment,
  type KeyDeliverySubscription,
  type KeyDeliverySubscriptionVariables,
} from './generated/graphql.js';
import { parseJSON } from './json.js';
import { createReceipts, type Receipts, type SyncedGateway } from './receipts.js';
import { retried } from './retry.js';

export type { SyncedGateway } from './receipts.js';

/** The part of a client that `sync` uses. */
export interface SyncClient extends OperationSender {
  follow(
    document: TypedDocument<KeyDeliverySubscription, KeyDeliverySubscriptionVariables>,
    variables: KeyDeliverySubscriptionVariables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<{ readonly data: KeyDeliverySubscription; readonly errors: readonly KeyfrontError[] }, void>;
}

/** Where an adapter keeps its place, beside its copy of the keys. */
export interface Checkpoint {
  /** Returns what was saved last; undefined at the first start. */
  load(): string | undefined | Promise<string | undefined>;
  /** Saves an opaque text. Called after each change that the copy has, so the copy must be durable before it returns. */
  save(checkpoint: string): void | Promise<void>;
  /** Returns the `keyHash` of every key in the copy. Called after a snapshot, to remove those that are gone. */
  keyHashes(): Iterable<string> | AsyncIterable<string>;
}

/** Options of `sync`. The functions are called one at a time. A change may be handled twice, and never not at all. */
export interface SyncOptions {
  /** Only keys of this organization. Default: all that the credential can see. */
  readonly orgID?: string | undefined;
  /** Stores a key, in place of everything that the copy has for its `keyHash`. */
  readonly onUpsert: (key: DeliveredFragment) => void | Promise<void>;
  /** Removes everything that the copy has for this `keyHash`, if anything. */
  readonly onDelete: (keyHash: string) => void | Promise<void>;
  /** Told about a key that the service cannot read. The copy keeps what it has. */
  readonly onUnreadable?: ((keyHash: string, error: KeyfrontError) => void | Promise<void>) | undefined;
  readonly checkpoint: Checkpoint;
  /** Tells the service what the gateway has, so that others see it. Default: nothing is told. */
  readonly gateway?: SyncedGateway | undefined;
  /** Milliseconds after which all keys are read again. Default: a day. */
  readonly snapshotEveryMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A place in the change feed, of a copy that had all keys at the time of its snapshot. */
interface Place {
  readonly cursor: string;
  /** The organization of the copy; null for all. */
  readonly orgID: string | null;
  /** Unix milliseconds of the snapshot. */
  readonly snapshotAt: number;
  /** The keys that could not be read, of which the copy may have an older state. */
  readonly unreadable?: readonly string[];
}

const dayMs = 86_400_000;

/**
 * Keeps a copy of keys, with their secrets, in step: reads all of them once, then follows their changes, and reads all again
 * when the place is lost or old. Retries while the service is not available. Needs a credential with the scopes `read` and
 * `deliver`. Resolves when the signal is aborted.
 *
 * @throws {KeyfrontError} if an error is permanent, such as FORBIDDEN; also what a function of the options throws. Start again
 * to continue at the last checkpoint.
 */
export async function sync(client: SyncClient, options: SyncOptions): Promise<void> {
  const { checkpoint, gateway } = options;
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const receipts = gateway && createReceipts(client, gateway, options.orgID, signal);
  const run: Run = { ...options, signal, client, receipts, unreadable: new Set() };
  const copy = async () => {
    let place = placeFrom(await checkpoint.load(), options);
    for (const keyHash of place?.unreadable ?? []) run.unreadable.add(keyHash);
    // What the copy has is not known: it may be an old one.
    if (!place) await receipts?.begin();
    else if (run.unreadable.size === 0) receipts?.reached(place.cursor);
    while (!signal.aborted) place = place ? await followFrom(run, place) : await copyAll(run);
  };
  let failure: { readonly error: unknown } | undefined;
  const work = [copy(), ...(receipts ? [receipts.send()] : [])].map((part) =>
    part.catch((error: unknown) => {
      failure ??= { error };
      stop.abort();
    }),
  );
  await Promise.all(work);
  if (failure && options.signal?.aborted !== true) throw failure.error;
}

/** The options, with what belongs to one call. */
interface Run extends SyncOptions {
  readonly client: SyncClient;
  readonly signal: AbortSignal;
  readonly receipts: Receipts | undefined;
  readonly unreadable: Set<string>;
}

/** The place of a checkpoint; undefined if there is none, or it belongs to another copy. */
function placeFrom(text: string | undefined, options: SyncOptions): Place | undefined {
  const orgID = options.orgID ?? null;
  try {
    const place = parseJSON(text ?? '') as Partial<Place> | null;
    const { cursor, snapshotAt, unreadable = [] } = place ?? {};
    if (typeof cursor !== 'string' || typeof snapshotAt !== 'number' || place?.orgID !== orgID) return undefined;
    return { cursor, orgID, snapshotAt, unreadable };
  } catch {
    return undefined;
  }
}

/** Reads all keys, and removes those that are gone. Returns the place before the first read; undefined if aborted. */
async function copyAll(options: Run): Promise<Place | undefined> {
  const { client, orgID, onUpsert, onDelete, checkpoint, signal, unreadable } = options;
  const snapshotAt = Date.now();
  // A change during the snapshot is after this cursor, and is handled again.
  const cursor = await presentCursor(options);
  unreadable.clear();
  if (cursor === undefined) return undefined;
  const seen = new Set<string>();
  let after: string | null | undefined;
  do {
    const variables = { orgID: orgID ?? null, after: after ?? null };
    const { data, errors } = await retried(() => client.send(DeliverKeysDocument, variables, { signal }), signal);
    const page = data.deliverKeys;
    if (!page) throw errors[0] ?? new KeyfrontError('INTERNAL', 'The response has no keys.');
    for (const [index, { keyHash, key }] of page.items.entries()) {
      seen.add(keyHash);
      if (key) await onUpsert(key);
      else
        await reportUnreadable(
          options,
          keyHash,
          errors.find(({ path }) => path?.[2] === index),
        );
    }
    after = page.hasNextPage ? page.endCursor : null;
  } while (after !== null && after !== undefined);
  const held: string[] = [];
  for await (const keyHash of checkpoint.keyHashes()) if (!seen.has(keyHash)) held.push(keyHash);
  for (const keyHash of held) await onDelete(keyHash);
  return saved(options, { cursor, orgID: orgID ?? null, snapshotAt });
}

/** The end of the change feed, which a subscription begins with. */
async function presentCursor({ client, orgID, signal }: Run): Promise<string | undefined> {
  for await (const { data } of client.follow(KeyDeliveryDocument, { orgID: orgID ?? null }, { signal })) {
    return data.orgKeyChanged.cursor;
  }
  return undefined;
}

/** Handles the changes after a place. Returns undefined when all keys have to be read again, or the signal is aborted. */
async function followFrom(options: Run, place: Place): Promise<undefined> {
  const { client, onUpsert, onDelete, snapshotEveryMs = dayMs, signal, unreadable, receipts } = options;
  const isOld = () => Math.abs(Date.now() - place.snapshotAt) >= snapshotEveryMs;
  if (isOld()) return undefined;
  const variables = { orgID: place.orgID, after: place.cursor };
  try {
    for await (const { data, errors } of client.follow(KeyDeliveryDocument, variables, { signal })) {
      const event = data.orgKeyChanged;
      if (event.__typename === 'OrgKeyChanged' || event.__typename === 'OrgKeyNoticed') {
        // The history entry is damaged, so it is not known which key has changed.
        if (typeof event.keyHash !== 'string') return undefined;
        const failure = errors.find(({ path }) => path?.[1] === 'delivered');
        const key = failure ? await deliveredAgain(options, event.keyHash, failure) : event.delivered;
        if (key) await onUpsert(key);
        else if (key === null) await onDelete(event.keyHash);
        if (key !== undefined) unreadable.delete(event.keyHash);
      }
      await saved(options, { ...place, cursor: event.cursor });
      if (isOld()) return undefined;
    }
  } catch (error) {
    if (!isLostPlace(error)) throw error;
    // Another database, or an older state of this one: the copy may have what the service does not.
    await receipts?.begin();
  }
  return undefined;
}

/** The key of an event that failed; undefined if it cannot be read. */
async function deliveredAgain(
  options: Run,
  keyHash: string,
  failure: KeyfrontError,
): Promise<DeliveredFragment | null | undefined> {
  if (failure.code !== 'INTERNAL') {
    try {
      const { client, signal } = options;
      const variables = { by: { keyHash } };
      const { data } = await retried(() => client.send(DeliverKeyDocument, variables, { signal }), signal);
      return data.deliverKey;
    } catch (error) {
      if (!(error instanceof KeyfrontError) || error.code !== 'INTERNAL') throw error;
    }
  }
  await reportUnreadable(options, keyHash, failure);
  return undefined;
}

async function reportUnreadable(
  { onUnreadable, unreadable }: Run,
  keyHash: string,
  error = new KeyfrontError('INTERNAL', 'The key cannot be read.'),
): Promise<void> {
  unreadable.add(keyHash);
  await onUnreadable?.(keyHash, error);
}

async function saved({ checkpoint, receipts, unreadable }: Run, { cursor, orgID, snapshotAt }: Place): Promise<Place> {
  const place = { cursor, orgID, snapshotAt, ...(unreadable.size > 0 && { unreadable: [...unreadable] }) };
  await checkpoint.save(JSON.stringify(place));
  // A key that cannot be read may be older in the copy than its last change.
  if (unreadable.size === 0) receipts?.reached(cursor);
  return place;
}

/** Whether the cursor is none of this database: it was replaced, or an older backup was restored. */
function isLostPlace(error: unknown): boolean {
  return (
    error instanceof KeyfrontError && error.code === 'INVALID' && error.issues.some(({ path }) => path === 'after')
  );
}
