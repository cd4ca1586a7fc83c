import { AppError, type ErrorCode, type Issue } from '../lib/errors.js';
import { requireScope } from './authorization.js';
import { patchWithTags, type TagChange } from './bulk-tags.js';
import type { DefinitionPatch } from './definition/patch.js';
import type { StoredKey } from './key.js';
import { entriesOf, positionOfEntry, type KeyFilter } from './key-query.js';
import type { CallContext, Ports } from './ports.js';
import type { KeyQueries } from './queries/read-keys.js';
import { findEach } from './queries/find-each.js';
import { assertReason, type KeyChange } from './change.js';
import { runIdempotent } from './idempotency.js';
import type { ReceiptOf } from './receipt.js';
import type { PatchRequest } from './update.js';

/** Maximum number of keys that one bulk update changes: as many as a person can review and a request can finish. */
export const bulkLimit = 200;

/** Selects keys and states what to change in each of them. */
export interface BulkRequest {
  readonly filter: KeyFilter;
  readonly patch: DefinitionPatch;
  /** Absent if the tags stay, or the patch replaces them. */
  readonly tags?: TagChange | undefined;
  readonly resetQuota: boolean;
  readonly isDryRun: boolean;
  readonly reason?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Update one page of the matching keys, by hash. If absent, the matching keys must not exceed `bulkLimit`. */
  readonly page?: { readonly first: number; readonly afterHash?: string | undefined } | undefined;
}

/** The result for one key: either `change` or `error`. */
export interface BulkItem {
  readonly keyHash: string;
  /** The key after the call: unchanged by a dry run or an error. Undefined if it cannot be read. */
  readonly key: StoredKey | undefined;
  readonly change: KeyChange | undefined;
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly issues: readonly Issue[] } | undefined;
}

/** The results of a bulk update, one for each key. */
export interface BulkResult {
  readonly filter: KeyFilter;
  readonly isDryRun: boolean;
  readonly items: readonly BulkItem[];
  /** Whether more keys match after the last item. */
  readonly hasMore: boolean;
}

/** Patches one of the keys, or predicts it. */
type PatchOne = (caller: CallContext, request: BulkItemRequest) => Promise<KeyChange>;

/** The patch of one of the keys. */
export interface BulkItemRequest extends PatchRequest {
  readonly keyHash: string;
  readonly receiptOf: ReceiptOf<KeyChange>;
}

/** The keys that a request with an idempotency key changes, also when it is repeated. */
interface BulkPlan {
  readonly keys: readonly { readonly keyHash: string; readonly version: number | undefined }[];
  readonly hasMore: boolean;
}

/** The selected keys, and the hashes of those that cannot be read. */
interface Selection {
  readonly keys: readonly (StoredKey | { readonly unreadable: string })[];
  readonly hasMore: boolean;
}

interface BulkUpdateDeps {
  readonly ports: Ports;
  readonly queries: Pick<KeyQueries, 'orgKeys'>;
  readonly patch: PatchOne;
  readonly preview: PatchOne;
}

/**
 * Applies a patch to all keys that match a filter, each in its own transaction: an error of one key is reported in its item.
 *
 * @throws {AppError} FORBIDDEN without the scopes `update` and `read`; INVALID when the reason is not valid, or more keys
 * match than one request may change and no page is requested; otherwise as `runIdempotent`. No key is changed then.
 */
export async function updateOrgKeys(
  deps: BulkUpdateDeps,
  caller: CallContext,
  request: BulkRequest,
): Promise<BulkResult> {
  requireScope(caller, 'update');
  assertReason(request.reason);
  const { keys, hasMore } =
    request.idempotencyKey === undefined || request.isDryRun
      ? await selectKeys(deps, caller, request)
      : await selectOnce(deps, caller, request);
  const items: BulkItem[] = [];
  for (const key of keys) {
    items.push(
      'unreadable' in key ? failedItem(key.unreadable, undefined) : await updateItem(deps, caller, key, request),
    );
  }
  return { filter: request.filter, isDryRun: request.isDryRun, items, hasMore };
}

/** @throws {AppError} INVALID when more keys match than one request may change and no page is requested. */
async function selectKeys(deps: BulkUpdateDeps, caller: CallContext, request: BulkRequest): Promise<Selection> {
  const first = Math.min(request.page?.first ?? bulkLimit, bulkLimit);
  const afterHash = request.page?.afterHash;
  // Its items show the matching keys, so that it requires the scope `read` too.
  const page = await deps.queries.orgKeys(caller, {
    filter: request.filter,
    orderBy: 'KEY_HASH',
    descending: false,
    limit: first + 1,
    ...(afterHash !== undefined && { after: { value: '', keyHash: afterHash } }),
  });
  const keys = entriesOf(page).map((entry) =>
    'key' in entry ? entry.key : { unreadable: positionOfEntry(entry, 'KEY_HASH').keyHash },
  );
  const hasMore = keys.length > first;
  if (hasMore && !request.page) throw tooManyKeys();
  return { keys: keys.slice(0, first), hasMore };
}

/**
 * Selects the keys of a request when it is sent first, and the same keys when it is repeated. A key that was changed
 * since, but not by this request, keeps its planned version, so that its item is a CONFLICT. Purged keys are left out.
 */
async function selectOnce(deps: BulkUpdateDeps, caller: CallContext, request: BulkRequest): Promise<Selection> {
  const { idempotencyKey, ...body } = request;
  let selection: Selection | undefined;
  const plan = await runIdempotent<BulkPlan>(
    deps.ports,
    caller,
    { operation, idempotencyKey, body },
    async (receiptOf) => {
      const found = await selectKeys(deps, caller, request);
      const planned = found.keys.map((key) =>
        'unreadable' in key
          ? { keyHash: key.unreadable, version: undefined }
          : { keyHash: key.keyHash, version: key.version },
      );
      const planOfFound = { keys: planned, hasMore: found.hasMore };
      const receipt = receiptOf(planOfFound);
      if (receipt) await deps.ports.store.addReceipt(receipt);
      selection = found;
      return planOfFound;
    },
  );
  if (selection) return selection;
  const hashes = plan.keys.map(({ keyHash }) => keyHash);
  const found = await findEach(deps.ports.store, hashes, caller.reads, caller.orgID);
  const keys = plan.keys.flatMap(({ keyHash, version }, index): Selection['keys'] => {
    const key = found[index];
    if (key instanceof Error) return [{ unreadable: keyHash }];
    return key ? [{ ...key, version: version ?? key.version }] : [];
  });
  return { keys, hasMore: plan.hasMore };
}

async function updateItem(
  { ports, patch: patchOne, preview }: BulkUpdateDeps,
  caller: CallContext,
  key: StoredKey,
  { patch: requested, tags, resetQuota, isDryRun, reason, idempotencyKey }: BulkRequest,
): Promise<BulkItem> {
  try {
    // A key that changes after the selection may no longer match, and is reported as a conflict.
    const { keyHash, version: expectedVersion } = key;
    const patch = patchWithTags(key, requested, tags);
    const patchRequest = { keyHash, stored: key, patch, resetQuota, reason, expectedVersion, hasDecimalStrings: true };
    const itemRequest = {
      operation: `${operation}/${keyHash}`,
      idempotencyKey: isDryRun ? undefined : idempotencyKey,
      // Not the tags of the key, which the first attempt may have changed.
      body: { patch: requested, resetQuota, reason, tags },
    };
    const change = await runIdempotent<KeyChange>(ports, caller, itemRequest, async (receiptOf) => {
      if (isDryRun) return preview(caller, { ...patchRequest, receiptOf });
      // Of many large keys, the store keeps the last ones only: it would parse this one again within its transaction.
      if (!ports.store.recent(keyHash)) await ports.store.find(keyHash, caller.orgID);
      return patchOne(caller, { ...patchRequest, receiptOf });
    });
    // In a dry run the key stays as it is stored: clients cache it by its id. The prediction is in `change` alone.
    return { keyHash: key.keyHash, key: isDryRun ? key : change.key, change, error: undefined };
  } catch (error) {
    if (error instanceof AppError && error.code !== 'INTERNAL') {
      const { code, message, issues } = error;
      return { keyHash: key.keyHash, key, change: undefined, error: { code, message, issues } };
    }
    // Throwing here would lose the results of the keys that have been changed already.
    ports.reportError?.(error, caller.requestID);
    return failedItem(key.keyHash, key);
  }
}

function failedItem(keyHash: string, key: StoredKey | undefined): BulkItem {
  return { keyHash, key, change: undefined, error: { code: 'INTERNAL', message: 'Internal error.', issues: [] } };
}

const operation = 'updateOrgKeys';

function tooManyKeys(): AppError {
  const message = `matches more than the ${bulkLimit} keys that one call may change; narrow it, or page with \`first\` and \`after\``;
  return new AppError('INVALID', 'The filter matches too many keys.', {
    issues: [{ path: ['filter'], code: 'TOO_MANY', message }],
  });
}
