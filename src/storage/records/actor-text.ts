import type { Actor } from '../../keys/key.js';

/** Between the label of an actor and its asserted name, and before its client; neither of them contains a control character. */
const beforeName = '\u001f';
const beforeClient = '\u001e';

type ActorText = Omit<Actor, 'credentialID'>;

/**
 * The text that identifies an actor beside its credential: its label, its asserted name if it has one, and the client of a person
 * who has signed on. Signatures and links cover the whole text.
 */
export function actorToText({ label, assertedName, client }: ActorText): string {
  return append(append(label, beforeName, assertedName), beforeClient, client);
}

/** Returns what `actorToText` was given. */
export function actorFromText(text: string): ActorText {
  const [named, client] = split(text, beforeClient);
  const [label, assertedName] = split(named, beforeName);
  return { label, ...(client !== undefined && { client }), ...(assertedName !== undefined && { assertedName }) };
}

/** A text that contains the separator itself is followed by an empty value. */
function append(text: string, separator: string, value: string | undefined): string {
  if (value !== undefined) return text + separator + value;
  return text.includes(separator) ? text + separator : text;
}

function split(text: string, separator: string): readonly [string, string | undefined] {
  const end = text.lastIndexOf(separator);
  if (end < 0) return [text, undefined];
  const value = text.slice(end + 1);
  return [text.slice(0, end), value === '' ? undefined : value];
}
