import { AppError } from '../lib/errors.js';
import { requireKey } from './authorization.js';
import type { CallContext, Ports } from './ports.js';
import { applyUpdate, secretComparison } from './update.js';
import {
  checkVersion,
  executeChange,
  previewChange,
  type ChangeCommand,
  type KeyChange,
  type RepeatableChange,
} from './change.js';
import type { ReceiptOf } from './receipt.js';
import type { StoredKey } from './key.js';

/** Reverts a key to an earlier version. */
export interface RevertRequest extends RepeatableChange {
  readonly toVersion: number;
}

/**
 * Stores the definition of an earlier version as a new version. Secrets and the live quota stay unchanged.
 *
 * @throws {AppError} NOT_FOUND when there is no such key or version; CONFLICT when the key has another version than
 * expected; otherwise as `executeChange`.
 */
export async function revertOrgKey(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: RevertRequest,
  receiptOf: ReceiptOf<KeyChange>,
): Promise<KeyChange> {
  const { command } = await prepareRevert(ports, caller, keyHash, request);
  return executeChange(ports, caller, keyHash, { ...command, receiptOf });
}

/**
 * Returns what `revertOrgKey` would return now, and writes nothing.
 *
 * @throws {AppError} as `revertOrgKey`.
 */
export async function previewOrgKeyRevert(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  request: RevertRequest,
): Promise<KeyChange> {
  const { stored, command } = await prepareRevert(ports, caller, keyHash, request);
  await checkVersion(ports, caller, stored, request.expectedVersion);
  return previewChange(ports, stored, command);
}

async function prepareRevert(
  ports: Ports,
  caller: CallContext,
  keyHash: string,
  { toVersion, expectedVersion, reason }: RevertRequest,
): Promise<{ stored: StoredKey; command: ChangeCommand<StoredKey> }> {
  const stored = requireKey(caller, await ports.store.find(keyHash, caller.orgID));
  const definition = await ports.store.definitionAt(keyHash, toVersion);
  if (definition === undefined) throw new AppError('NOT_FOUND', `The key has no version ${toVersion}.`);
  // The hash type of that version need not be that of the password that is stored now.
  const { hashType, ...basicAuthData } = definition.basicAuthData ?? {};
  const update = {
    definition: definition.basicAuthData ? { ...definition, basicAuthData } : definition,
    secrets: {},
    resetQuota: false,
    hasDecimalStrings: false,
  };
  const command: ChangeCommand<StoredKey> = {
    expectedVersion,
    reason,
    operation: 'revert',
    revertedTo: toVersion,
    // If the key was purged and created again meanwhile, the definition belongs to the earlier key.
    authorize: (current) => requireKey(caller, current?.identity === stored.identity ? current : undefined),
    apply: (before, conditions) => applyUpdate(before, update, conditions, secretComparison(ports, keyHash)),
  };
  return { stored, command };
}
