import type { TypedDocument } from './document.js';
import { KeyfrontError } from './errors.js';
import { freeFormFields, readOnlyFields } from './generated/definition-fields.js';
import {
  OrgKeyDocument,
  PatchOrgKeyDocument,
  type DefinitionFragment,
  type PatchKeyInput,
  type PatchOrgKeyMutation,
  type UpdateKeyInput,
} from './generated/graphql.js';

/** Converts a definition that was read to the input of an update that changes nothing. */
export function toInput(definition: DefinitionFragment): UpdateKeyInput {
  return withoutReadOnlyFields(definition) as UpdateKeyInput;
}

function withoutReadOnlyFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReadOnlyFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // Secrets that are not sent stay.
      .filter(([name, member]) => member !== null && name !== '__typename' && !readOnlyFields.has(name))
      .map(([name, member]) => [name, freeFormFields.has(name) ? (member as unknown) : withoutReadOnlyFields(member)]),
  );
}

/**
 * Returns the patch that makes the second definition of the first. It names no other field, so that those that a later
 * version of the service has, and this one does not know, stay.
 */
export function toPatch(before: UpdateKeyInput, after: UpdateKeyInput): PatchKeyInput {
  return patchOf(before, after);
}

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function patchOf(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const [one, other] = [before[name], after[name]];
      return JSON.stringify(one) === JSON.stringify(other) ? [] : [[name, patchOfValue(one, other)]];
    }),
  );
}

function patchOfValue(before: unknown, after: unknown): unknown {
  if (after === undefined) return null;
  if (isMembers(before) && isMembers(after)) return patchOf(before, after);
  if (!Array.isArray(before) || !Array.isArray(after)) return after;
  // Access rights are patched by their labels. The list names all of them.
  return after.map((entry: unknown) => {
    const label = isMembers(entry) ? entry['label'] : undefined;
    const stored: unknown = before.find((one: unknown) => isMembers(one) && one['label'] === label);
    return isMembers(entry) && isMembers(stored) && label !== undefined ? { label, ...patchOf(stored, entry) } : entry;
  });
}

/** The part of a client that `editOrgKey` uses. */
export interface OperationSender {
  send<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    variables: Variables,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly data: Data; readonly errors: readonly KeyfrontError[] }>;
}

/** Options of `editOrgKey`. */
export interface EditOptions {
  /** Reason for the change, recorded in the history. */
  readonly reason?: string | undefined;
  /** Maximum number of attempts if the key changes concurrently. Default: 5. */
  readonly maxAttempts?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of an edit. */
export type OrgKeyEditResult = NonNullable<PatchOrgKeyMutation['patchOrgKey']>;

/**
 * Reads a key, edits its definition, and stores the changed fields if the key has not changed since. After a CONFLICT it
 * edits the newer definition, so `edit` may be called several times.
 *
 * @param edit - returns the edited definition; it may change its argument and return it
 * @throws {KeyfrontError} NOT_FOUND if there is no such key; CONFLICT after the last attempt; the error of the patch
 */
export async function editOrgKey(
  client: OperationSender,
  keyID: string,
  edit: (input: UpdateKeyInput) => UpdateKeyInput,
  { reason, maxAttempts = 5, signal }: EditOptions = {},
): Promise<OrgKeyEditResult> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await client.send(OrgKeyDocument, { by: { keyID }, first: 1 }, { signal });
    const { orgKey } = read.data;
    if (!orgKey?.definition) throw read.errors[0] ?? new KeyfrontError('NOT_FOUND', 'There is no such key.');
    const patch = toPatch(toInput(orgKey.definition), edit(toInput(orgKey.definition)));
    try {
      const variables = { keyID, patch, expectedVersion: orgKey.version, reason: reason ?? null };
      const { data, errors } = await client.send(PatchOrgKeyDocument, variables, { signal });
      if (data.patchOrgKey) return data.patchOrgKey;
      throw errors[0] ?? new KeyfrontError('INTERNAL', 'The response has no result.');
    } catch (error) {
      const isConflict = error instanceof KeyfrontError && error.code === 'CONFLICT';
      if (!isConflict || attempt >= maxAttempts) throw error;
    }
  }
}
