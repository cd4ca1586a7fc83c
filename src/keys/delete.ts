import { requireKey, requireRestorableKey } from './authorization.js';
import type { CallContext, Ports } from './ports.js';
import { nextKeyVersion } from './key.js';
import type { ReceiptOf } from './receipt.js';
import { executeChange, type KeyChangeOptions, type KeyChange } from './change.js';

/**
 * Deletes a key. It can be restored within the restore window, and is purged after it.
 *
 * @throws {AppError} NOT_FOUND when the caller sees no such key; otherwise as `executeChange`.
 */
export async function deleteOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { expectedVersion, reason }: KeyChangeOptions,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  return executeChange(ports, caller, keyHash, {
    expectedVersion,
    reason,
    receiptOf,
    operation: 'delete',
    authorize: (stored) => requireKey(caller, stored),
    apply: (before, { at }) => ({ ...nextKeyVersion(before, at), deleted: at }),
  });
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
  { expectedVersion, reason }: KeyChangeOptions,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  return executeChange(ports, caller, keyHash, {
    expectedVersion,
    reason,
    receiptOf,
    operation: 'restore',
    authorize: (stored) => requireRestorableKey(caller, stored, ports),
    apply: (before, { at }) => ({ ...nextKeyVersion(before, at), deleted: undefined }),
  });
}
