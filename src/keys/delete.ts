import { requireKey, requireRestorableKey } from './authorization.js';
import type { CallContext, Ports } from './ports.js';
import { nextKeyVersion } from './update.js';
import type { RunIdempotent } from './idempotency.js';
import type { ChangeExecutor, KeyChangeOptions, KeyChange } from './change.js';

/** A key to delete. */
export interface DeleteRequest extends KeyChangeOptions {
  readonly idempotencyKey?: string | undefined;
}

/** Deletes keys, and restores deleted ones. */
export function createDeleteCommands(ports: Ports, { executeChange }: ChangeExecutor, runIdempotent: RunIdempotent) {
  /**
   * Deletes a key. It can be restored within the restore window, and is purged after it.
   *
   * @throws {AppError} NOT_FOUND when the caller sees no such key; otherwise as `runIdempotent` and `executeChange`.
   */
  async function deleteOrgKey(caller: CallContext, keyHash: string, request: DeleteRequest): Promise<KeyChange> {
    const { idempotencyKey, expectedVersion, reason } = request;
    const body = { keyHash, expectedVersion, reason };
    return runIdempotent<KeyChange>(caller, { operation: 'deleteOrgKey', idempotencyKey, body }, (receiptOf) =>
      executeChange(caller, keyHash, {
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
  async function restoreOrgKey(caller: CallContext, keyHash: string, options: KeyChangeOptions): Promise<KeyChange> {
    return executeChange(caller, keyHash, {
      expectedVersion: options.expectedVersion,
      reason: options.reason,
      operation: 'restore',
      authorize: (stored) => requireRestorableKey(caller, stored, ports),
      apply: (before, at) => ({ ...nextKeyVersion(before, at), deleted: undefined }),
    });
  }

  return { deleteOrgKey, restoreOrgKey };
}
