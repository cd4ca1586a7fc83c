import type { Actor } from './key.js';

const maxCharacters = 100;
const credentialPattern = /kf_(?:mgt|svc)_/i;

/** Why a name cannot be that of an actor, as the end of a sentence about it; undefined if it can. */
export function actorNameProblem(name: string): string | undefined {
  if (name.length > maxCharacters || !/^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name) || name.trim() === '') {
    return `must be a name of at most ${maxCharacters} printable characters`;
  }
  // Sent in the wrong header or option, it would stay in the history.
  return credentialPattern.test(name) ? 'must be a name, and contains a credential' : undefined;
}

/** Who records what happens in time. */
export const serviceActor: Actor = { credentialID: 'service', label: 'Keyfront' };

/** The actor of the changes of a caller. */
export function actorOf({ credentialID, label, assertedName }: Actor): Actor {
  return { credentialID, label, ...(assertedName !== undefined && { assertedName }) };
}
