import type { EntryFragment } from '../../client/client.js';
import { nodesOf } from '../results.js';
import type { KeyDetails } from './read-key.js';
import { keyText } from './strings.js';

/** The changes of a page of a history, the newest first. */
export function entriesOf(history: KeyDetails['history']): readonly EntryFragment[] {
  return nodesOf(history).toReversed();
}

/** Who made a change: the person who has signed on, the one that the credential named, or the credential. */
export function whoOf({ label, assertedName }: Pick<EntryFragment['actor'], 'label' | 'assertedName'>): string {
  return keyText.activity.by(label, assertedName);
}

const tokenPrefix = 'oidc:';

/**
 * What identifies a person who has signed on: the subject, because people can change their names, and the application. Undefined
 * for a credential.
 */
export function identityOf({ credentialID, client }: EntryFragment['actor']): string | undefined {
  if (!credentialID.startsWith(tokenPrefix)) return undefined;
  return keyText.activity.identity(credentialID.slice(tokenPrefix.length), client);
}
