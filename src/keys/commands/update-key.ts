import { requireKey } from '../authorization.js';
import { normalizeDefinition } from '../definition/normalize.js';
import type { KeyDefinition } from '../definition/schema.js';
import type { StoredKey } from '../key.js';
import type { CallContext, Ports } from '../ports.js';
import { applyUpdate, secretComparison, type PreparedUpdate } from './apply-update.js';
import type { ChangeCommand, ChangeExecutor, KeyChangeOptions, KeyChange } from './execute-change.js';
import type { ReceiptOf } from './idempotency.js';
import { protectSecrets } from './protect-secrets.js';

/** Replaces the definition of a key. */
export interface UpdateRequest extends KeyChangeOptions {
  readonly input: KeyDefinition;
  readonly resetQuota: boolean;
  /** Whether the client reads integers beyond 2^53-1 in free-form JSON as decimal strings, and writes them back so. */
  readonly hasDecimalStrings?: boolean;
  /** The hash of a password from another system, instead of a password in the definition. Set by imports only. */
  readonly passwordHash?: string | undefined;
  readonly receiptOf?: ReceiptOf<KeyChange>;
}

/** Replaces the definition of a key, or previews that. */
export function createUpdateCommands(ports: Ports, { executeChange, previewChange, checkVersion }: ChangeExecutor) {
  const { store, seal, hashPassword } = ports;

  /**
   * Replaces the definition, and resets the live quota if requested.
   *
   * @throws {AppError} INVALID when the definition contradicts the stored key; NOT_FOUND when the caller sees no such key;
   * UNAVAILABLE when too many passwords wait to be hashed; otherwise as `executeChange`.
   */
  async function updateOrgKey(caller: CallContext, keyHash: string, request: UpdateRequest): Promise<KeyChange> {
    caller.deadline?.throwIfExpired();
    // Hashing is expensive: a request that will fail is rejected before it. The transaction checks again.
    if (typeof request.input.basicAuthData?.password === 'string') await findUpdatable(caller, keyHash, request);
    return executeChange(caller, keyHash, await commandOf(caller, keyHash, request, false));
  }

  /**
   * Returns what `updateOrgKey` would return now, and writes nothing.
   *
   * @throws {AppError} as `updateOrgKey`.
   */
  async function previewOrgKeyUpdate(caller: CallContext, keyHash: string, request: UpdateRequest): Promise<KeyChange> {
    caller.deadline?.throwIfExpired();
    const stored = await findUpdatable(caller, keyHash, request);
    return previewChange(stored, await commandOf(caller, keyHash, request, true));
  }

  async function findUpdatable(
    caller: CallContext,
    keyHash: string,
    { expectedVersion }: UpdateRequest,
  ): Promise<StoredKey> {
    const stored = requireKey(caller, await store.find(keyHash, caller.orgID));
    await checkVersion(caller, stored, expectedVersion);
    return stored;
  }

  async function commandOf(
    caller: CallContext,
    keyHash: string,
    request: UpdateRequest,
    isDryRun: boolean,
  ): Promise<ChangeCommand<StoredKey>> {
    const update = await prepareUpdate(request, keyHash, isDryRun);
    const { input, resetQuota, expectedVersion, reason, receiptOf } = request;
    return {
      operation: 'update',
      input,
      isReset: resetQuota,
      expectedVersion,
      reason,
      receiptOf,
      authorize: (stored) => requireKey(caller, stored),
      apply: (before, at) => applyUpdate(before, update, at, secretComparison(ports, keyHash)),
    };
  }

  async function prepareUpdate(request: UpdateRequest, keyHash: string, isDryRun: boolean): Promise<PreparedUpdate> {
    const { definition, secrets } = normalizeDefinition(request.input);
    const hashType = request.input.basicAuthData?.hashType;
    const deps = { seal, hashPassword: isDryRun ? placeholderHash : hashPassword };
    const { passwordHash } = request;
    return {
      definition,
      secrets: {
        ...(await protectSecrets(deps, keyHash, secrets, hashType)),
        ...(passwordHash !== undefined && { passwordHash }),
      },
      resetQuota: request.resetQuota,
      hasDecimalStrings: request.hasDecimalStrings ?? false,
    };
  }

  return { updateOrgKey, previewOrgKeyUpdate };
}

/** A preview shows only that the password changes and its hash type, so that it need not be hashed. */
async function placeholderHash(_: string, type: string): Promise<string> {
  return Promise.resolve(type === 'argon2id' ? '$argon2id$' : '$2b$');
}
