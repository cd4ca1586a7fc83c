import type { TypedDocument } from './document.js';
import { KeyfrontError } from './errors.js';
import { freeFormFields, readOnlyFields } from './generated/definition-fields.js';
import {
  OrgKeyDocument,
  UpdateOrgKeyDocument,
  type DefinitionFragment,
  type UpdateKeyInput,
  type UpdateOrgKeyMutation,
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

/** The result of an update. */
export type OrgKeyUpdateResult = NonNullable<UpdateOrgKeyMutation['updateOrgKey']>;

/**
 * Reads a key, edits its definition, and updates it if it has not changed since. After a CONFLICT it edits the newer
 * definition, so `edit` may be called several times.
 *
 * @param edit - returns the input of the update; it may change its argument and return it
 * @throws {KeyfrontError} NOT_FOUND if there is no such key; CONFLICT after the last attempt; the error of the update
 */
export async function editOrgKey(
  client: OperationSender,
  keyID: string,
  edit: (input: UpdateKeyInput) => UpdateKeyInput,
  { reason, maxAttempts = 5, signal }: EditOptions = {},
): Promise<OrgKeyUpdateResult> {
  for (let attempt = 1; ; attempt += 1) {
    const read = await client.send(OrgKeyDocument, { by: { keyID }, first: 1 }, { signal });
    const { orgKey } = read.data;
    if (!orgKey?.definition) throw read.errors[0] ?? new KeyfrontError('NOT_FOUND', 'There is no such key.');
    const input = edit(toInput(orgKey.definition));
    try {
      const variables = { keyID, input, expectedVersion: orgKey.version, reason: reason ?? null };
      const { data, errors } = await client.send(UpdateOrgKeyDocument, variables, { signal });
      if (data.updateOrgKey) return data.updateOrgKey;
      throw errors[0] ?? new KeyfrontError('INTERNAL', 'The response has no result.');
    } catch (error) {
      const isConflict = error instanceof KeyfrontError && error.code === 'CONFLICT';
      if (!isConflict || attempt >= maxAttempts) throw error;
    }
  }
}
