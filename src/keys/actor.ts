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

const tokenPrefix = 'oidc:';

/** The identity of somebody who has signed on: the subject of the token. It is the same for each token and client. */
export function tokenCredentialID(subject: string): string {
  return tokenPrefix + subject;
}

/** Whether an identity is that of somebody who has signed on, and not a credential of ours. */
export function hasSignedOn({ credentialID }: Pick<Actor, 'credentialID'>): boolean {
  return credentialID.startsWith(tokenPrefix);
}

/** The actor of the changes of a caller. */
export function actorOf({ credentialID, label, client, assertedName }: Actor): Actor {
  return {
    credentialID,
    label,
    ...(client !== undefined && { client }),
    ...(assertedName !== undefined && { assertedName }),
  };
}
