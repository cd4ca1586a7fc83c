import type { StoredKey } from './key.js';
import { unixSeconds } from './time.js';

/** What can become of a key. */
export const keyStates = {
  ACTIVE: 'The key may be used: it is neither switched off nor expired nor deleted.',
  INACTIVE: 'The key is switched off by `isInactive`, whether it has expired or not.',
  EXPIRED: 'The moment in the key’s `expires` has passed.',
  DELETED: 'The key was deleted and can still be restored.',
} as const;

export type KeyState = keyof typeof keyStates;

export function stateOf({ deleted, definition }: StoredKey, now: Date): KeyState {
  if (deleted !== undefined) return 'DELETED';
  if (definition.isInactive === true) return 'INACTIVE';
  const { expires } = definition;
  return expires !== undefined && expires >= 1n && expires <= unixSeconds(now) ? 'EXPIRED' : 'ACTIVE';
}
