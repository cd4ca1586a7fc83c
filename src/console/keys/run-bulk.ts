import {
  OrgKeyDocument,
  PreviewOrgKeyUpdateDocument,
  toInput,
  UpdateOrgKeyDocument,
  UpdateOrgKeysDocument,
  type ChangeFragment,
  type Client,
  type OrgKeyFilter,
  type UpdateOrgKeysMutationVariables,
} from '../../client/client.js';
import type { FormValues } from '../edit/form-values.js';
import { identifierOf } from '../key/read-key.js';
import { text } from '../strings.js';
import { required, toKeyfrontError } from '../use-load.js';

/** A change of many keys: the fields to set, or to remove if they are null, and whether to reset the quotas. */
export interface BulkChange {
  readonly patch: FormValues;
  readonly resetQuota: boolean;
}

/** The keys to change: those with these hashes, or all that match a filter. */
export type BulkTarget = { readonly keyHashes: readonly string[] } | { readonly filter: OrgKeyFilter };

/** The result for one key. */
export interface BulkOutcome {
  readonly keyHash: string;
  readonly version?: number | undefined;
  readonly changes: readonly ChangeFragment[];
  readonly quotaEffect?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string; readonly issues: readonly unknown[] } | undefined;
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
  if ('keyHashes' in target) {
    for (const keyHash of target.keyHashes) yield [await changeOne(client, keyHash, change, options)];
    return;
  }
  const { filter } = target;
  const { isDryRun: dryRun, reason, signal } = options;
  for (let after: string | null = null; ;) {
    const variables: UpdateOrgKeysMutationVariables = { filter, ...change, dryRun, reason, first: pageSize, after };
    const { data, errors } = await client.send(UpdateOrgKeysDocument, variables, { signal });
    const page = required(data.updateOrgKeys, errors, text.none);
    yield page.items.map(({ keyHash, change: done, error }) => ({
      keyHash,
      version: done?.version,
      changes: done?.changes ?? [],
      quotaEffect: done?.quotaEffect?.summary,
      error: error ?? undefined,
    }));
    if (!page.hasNextPage) return;
    after = page.endCursor;
  }
}

/** Changes one key, unless it changes concurrently. Reads it first, because an update replaces the definition. */
async function changeOne(
  client: Client,
  keyHash: string,
  { patch, resetQuota }: BulkChange,
  { isDryRun, reason, signal }: BulkOptions,
): Promise<BulkOutcome> {
  try {
    const read = await client.send(OrgKeyDocument, { by: { keyHash }, last: 1 }, { signal });
    const found = required(read.data.orgKey, read.errors, text.key.missing);
    const { version: expectedVersion, definition } = found;
    const input = { ...toInput(required(definition, read.errors, text.key.missing)), ...patch };
    const variables = { keyID: identifierOf(found), input, resetQuota, expectedVersion };
    const send = async () => {
      if (isDryRun) {
        const { data, errors } = await client.send(PreviewOrgKeyUpdateDocument, variables, { signal });
        return required(data.previewOrgKeyUpdate, errors, text.key.missing);
      }
      const { data, errors } = await client.send(UpdateOrgKeyDocument, { ...variables, reason }, { signal });
      return required(data.updateOrgKey, errors, text.key.missing);
    };
    const { version, changes, quotaEffect } = await send();
    return { keyHash, version, changes, quotaEffect: quotaEffect?.summary };
  } catch (caught) {
    if (signal.aborted) throw caught;
    const { code, message, issues } = toKeyfrontError(caught);
    return { keyHash, changes: [], error: { code, message, issues } };
  }
}
