import { requireKey, requireRestorableKey } from './authorization.js';
import type { CallContext, Ports } from './ports.js';
import { nextKeyVersion } from './key.js';
import { runIdempotent } from './idempotency.js';
import { executeChange, type KeyChangeOptions, type KeyChange } from './change.js';

/** A key to delete. */
export interface DeleteRequest extends KeyChangeOptions {
  readonly idempotencyKey?: string | undefined;
}

/**
 * Deletes a key. It can be restored within the restore window, and is purged after it.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such key; otherwise as `runIdempotent` and `executeChange`.
 */
export async function deleteOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: DeleteRequest,
): Promise<KeyChange> {
  const { idempotencyKey, expectedVersion, reason } = request;
  const body = { keyHash, expectedVersion, reason };
  return runIdempotent<KeyChange>(ports, caller, { operation: 'deleteOrgKey', idempotencyKey, body }, (receiptOf) =>
    executeChange(ports, caller, keyHash, {
      expectedVersion,
      reason,
      receiptOf,
      operation: 'delete',
      authorize: (stored) => requireKey(caller, stored),
      apply: (before, at) => ({ ...nextKeyVersion(before, at), deleted: at }),
    }),
  );
}

/**
 * Restores a deleted key unchanged.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no deleted key within its restore window; otherwise as
 * `executeChange`.
 */
export async function restoreOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  options: KeyChangeOptions,
): Promise<KeyChange> {
  return executeChange(ports, caller, keyHash, {
    expectedVersion: options.expectedVersion,
    reason: options.reason,
    operation: 'restore',
    authorize: (stored) => requireRestorableKey(caller, stored, ports),
    apply: (before, at) => ({ ...nextKeyVersion(before, at), deleted: undefined }),
  });
}
