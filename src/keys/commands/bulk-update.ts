import { AppError, type Issue } from '../../lib/errors.js';
import type { KeyChange, UpdateRequest } from './change-key.js';
import type { KeyDefinition } from '../definition/schema.js';
import { readDefinition } from '../definition/parse.js';
import type { Caller, Ports } from '../ports.js';
import type { createKeyQueries } from '../queries/read-keys.js';
import { assertReason } from '../reason.js';
import type { StoredKey } from '../key.js';
import type { KeyFilter } from '../key-query.js';

/** How many keys one call may change: what a person can look over, and a request can carry out in time. */
export const bulkLimit = 200;

export interface BulkRequest {
  readonly filter: KeyFilter;
  /** Fields to set; null clears one, and what is left out stays. */
  readonly patch: KeyDefinition;
  readonly resetQuota: boolean;
  readonly isDryRun: boolean;
  readonly reason?: string | undefined;
  /** Go through the matching keys a page at a time, by hash; without it, all of them must fit into one. */
  readonly page?: { readonly first: number; readonly afterHash?: string | undefined } | undefined;
}

/** What became, or would become, of one key. Exactly one of `change` and `error` is there. */
export interface BulkItem {
  readonly key: StoredKey;
  readonly change: KeyChange | undefined;
  readonly error: { readonly code: string; readonly message: string; readonly issues: readonly Issue[] } | undefined;
}

export interface BulkResult {
  readonly isDryRun: boolean;
  readonly items: readonly BulkItem[];
  /** Whether more keys match after the last of these. */
  readonly hasMore: boolean;
}

interface Steps {
  readonly reading: ReturnType<typeof createKeyQueries>;
  readonly update: (caller: Caller, request: UpdateRequest) => Promise<KeyChange>;
  readonly preview: (caller: Caller, request: UpdateRequest) => Promise<KeyChange>;
  readonly reportError: Ports['reportError'];
}

/** Changes many keys, each on its own: one that fails, for any reason, leaves the others changed and reported. */
export function createBulkUpdate({ reading, update, preview, reportError }: Steps) {
  return {
    /** @throws {AppError} INVALID when more keys match than one call may change, unless they are paged; nothing is changed. */
    async updateOrgKeys(caller: Caller, request: BulkRequest): Promise<BulkResult> {
      assertReason(request.reason);
      const first = Math.min(request.page?.first ?? bulkLimit, bulkLimit);
      const afterHash = request.page?.afterHash;
      const { keys } = await reading.orgKeys(caller, {
        filter: request.filter,
        orderBy: 'KEY_HASH',
        descending: false,
        limit: first + 1,
        ...(afterHash !== undefined && { after: { value: '', keyHash: afterHash } }),
      });
      const hasMore = keys.length > first;
      if (hasMore && !request.page) {
        const message = `matches more than the ${bulkLimit} keys that one call may change; narrow it, or page with \`first\` and \`after\``;
        throw new AppError('INVALID', 'The filter matches too many keys.', {
          issues: [{ path: ['filter'], code: 'TOO_MANY', message }],
        });
      }
      const items: BulkItem[] = [];
      for (const key of keys.slice(0, first)) items.push(await one(caller, key, request));
      return { isDryRun: request.isDryRun, items, hasMore };
    },
  };

  async function one(
    caller: Caller,
    key: StoredKey,
    { patch, resetQuota, isDryRun, reason }: BulkRequest,
  ): Promise<BulkItem> {
    try {
      const input = readDefinition('update', merged(key, patch));
      // The version holds the merge and the write together: a key that changes in between is reported, not overwritten.
      const change = await (isDryRun ? preview : update)(caller, {
        keyID: reading.keyIDOf(key),
        input,
        resetQuota,
        reason,
        expectedVersion: key.version,
      });
      return { key: change.key, change, error: undefined };
    } catch (error) {
      if (error instanceof AppError && error.code !== 'INTERNAL') {
        return { key, change: undefined, error: { code: error.code, message: error.message, issues: error.issues } };
      }
      // Thrown, it would take the report of all other keys with it, of which some are changed by now.
      reportError?.(error, caller.requestID);
      return { key, change: undefined, error: { code: 'INTERNAL', message: 'Internal error.', issues: [] } };
    }
  }
}

/** The stored definition with the patch's fields in place of its own. */
function merged({ definition }: StoredKey, patch: KeyDefinition): object {
  return { ...definition, ...patch };
}
