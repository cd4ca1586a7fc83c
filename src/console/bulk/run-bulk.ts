import {
  UpdateOrgKeysDocument,
  type ChangeFragment,
  type Client,
  type KeyfrontIssue,
  type OrgKeyFilter,
  type UpdateOrgKeysMutationVariables,
} from '../../client/client.js';
import type { FormValues } from '../edit/form-values.js';
import { nameOf, shortHash } from '../format.js';
import { text } from '../strings.js';
import { required } from '../results.js';

/**
 * A change of many keys: the fields to set, or to remove if they are null, the tags to add and to remove, and whether to
 * reset the quotas.
 */
export interface BulkChange extends Pick<UpdateOrgKeysMutationVariables, 'addTags' | 'removeTags'> {
  readonly patch: FormValues;
  readonly resetQuota: boolean;
}

/** The keys to change: those with these hashes and names, or all that match a filter. */
export type BulkTarget = { readonly keys: ReadonlyMap<string, string> } | { readonly filter: OrgKeyFilter };

/** The result for one key. */
export interface BulkOutcome {
  readonly keyHash: string;
  readonly name: string;
  readonly version?: number | undefined;
  readonly isChanged: boolean;
  readonly changes: readonly ChangeFragment[];
  readonly quotaEffect?: string | undefined;
  readonly error?:
    | {
        readonly code: string;
        readonly message: string;
        readonly issues: readonly Pick<KeyfrontIssue, 'path' | 'message'>[];
      }
    | undefined;
}

interface BulkOptions {
  readonly isDryRun: boolean;
  readonly reason: string | null;
  readonly signal: AbortSignal;
}

const pageSize = 50;

/** Changes keys, or predicts their change, and yields the results as they arrive. */
export async function* runBulk(
  client: Client,
  target: BulkTarget,
  change: BulkChange,
  options: BulkOptions,
): AsyncGenerator<readonly BulkOutcome[], void> {
  if ('filter' in target) {
    yield* changeMatching(client, target.filter, change, options);
    return;
  }
  const keyHashes = [...target.keys.keys()];
  for (let start = 0; start < keyHashes.length; start += pageSize) {
    const selected = keyHashes.slice(start, start + pageSize);
    const found = new Set<string>();
    for await (const page of changeMatching(client, { keyHashes: selected }, change, options)) {
      for (const { keyHash } of page) found.add(keyHash);
      yield page;
    }
    const missing = selected.filter((keyHash) => !found.has(keyHash));
    if (missing.length > 0) {
      yield missing.map((keyHash) => ({
        keyHash,
        name: target.keys.get(keyHash) ?? shortHash(keyHash),
        isChanged: false,
        changes: [],
        error: notFound,
      }));
    }
  }
}

/** The error of a selected key that was deleted since. */
const notFound = { code: 'NOT_FOUND', message: text.notFound, issues: [] };

async function* changeMatching(
  client: Client,
  filter: OrgKeyFilter,
  change: BulkChange,
  { isDryRun: dryRun, reason, signal }: BulkOptions,
): AsyncGenerator<readonly BulkOutcome[], void> {
  for (let after: string | null = null; ;) {
    const variables: UpdateOrgKeysMutationVariables = { filter, ...change, dryRun, reason, first: pageSize, after };
    const { data, errors } = await client.send(UpdateOrgKeysDocument, variables, { signal });
    const page = required(data.updateOrgKeys, errors, text.none);
    yield page.items.map(({ keyHash, orgKey, change: done, error }) => ({
      keyHash,
      name: nameOf(orgKey ?? { keyHash, definition: null }),
      version: done?.version,
      isChanged: done?.changed === true,
      changes: done?.changes ?? [],
      quotaEffect: done?.quotaEffect?.summary,
      error: error ?? undefined,
    }));
    if (!page.hasNextPage) return;
    after = page.endCursor;
  }
}
