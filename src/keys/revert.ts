import { AppError } from '../lib/errors.js';
import { requireKey } from './authorization.js';
import type { CallContext, Ports } from './ports.js';
import { applyUpdate, secretComparison } from './update.js';
import { executeChange, type KeyChangeOptions, type KeyChange } from './change.js';

/** Reverts a key to an earlier version. */
export interface RevertRequest extends KeyChangeOptions {
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
  { toVersion, expectedVersion, reason }: RevertRequest,
): Promise<KeyChange> {
  const { identity } = requireKey(caller, await ports.store.find(keyHash, caller.orgID));
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
  return executeChange(ports, caller, keyHash, {
    expectedVersion,
    reason,
    operation: 'revert',
    // If the key was purged and created again meanwhile, the definition belongs to the earlier key.
    authorize: (stored) => requireKey(caller, stored?.identity === identity ? stored : undefined),
    apply: (before, at) => applyUpdate(before, update, at, secretComparison(ports, keyHash)),
  });
}
