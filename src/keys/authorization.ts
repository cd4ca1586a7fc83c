import { AppError } from '../lib/errors.js';
import type { Caller, Ports } from './ports.js';
import type { StoredKey } from './key.js';

/** Whether the caller may know of this organisation and its keys. */
export function maySee(caller: Caller, orgID: string): boolean {
  return caller.orgID === undefined || caller.orgID === orgID;
}

/** The key, where the caller may know of it. Another organisation's is as good as none: it is not ours to confirm. */
export function visibleKey(caller: Caller, stored: StoredKey | undefined): StoredKey | undefined {
  return stored !== undefined && maySee(caller, stored.orgID) ? stored : undefined;
}

/** The key, where the caller may use it; throws NOT_FOUND for one that is foreign, deleted or none. */
export function requireKey(caller: Caller, stored: StoredKey | undefined): StoredKey {
  const found = visibleKey(caller, stored);
  if (found === undefined || found.deleted !== undefined) throw new AppError('NOT_FOUND', 'There is no such key.');
  return found;
}

/** The key, where the caller may restore it; throws NOT_FOUND for one that is foreign, none, or gone for too long. */
export function requireRestorableKey(
  caller: Caller,
  stored: StoredKey | undefined,
  { now, restoreWindowMs }: Ports,
): StoredKey {
  const found = visibleKey(caller, stored);
  if (found?.deleted === undefined || found.deleted.getTime() + restoreWindowMs <= now().getTime()) {
    throw new AppError('NOT_FOUND', 'There is no deleted key to restore.');
  }
  return found;
}
