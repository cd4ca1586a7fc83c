import type { EntryFragment } from '../../client/client.js';
import type { KeyDetails } from './read-key.js';
import { keyText } from './strings.js';

/** The changes of a page of a history, the newest first. */
export function entriesOf(history: KeyDetails['history']): readonly EntryFragment[] {
  return (history?.edges ?? []).flatMap((edge) => edge?.node ?? []).toReversed();
}

/** Who made a change: the person that the credential named, or the credential. */
export function whoOf({ label, assertedName }: Omit<EntryFragment['actor'], 'credentialID'>): string {
  return keyText.activity.by(label, assertedName);
}
