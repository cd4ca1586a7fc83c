import { closestMatch } from 'leven';

/** Free text for a line of a terminal or a log: what ends lines, steers terminals or turns text round is replaced. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}

/** The same for a text that may have several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The one of `known` that `name` was probably meant to be. Case and underscores do not count. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.replaceAll('_', '').toLowerCase();
  const byPlain = new Map([...known].map((candidate) => [plain(candidate), candidate]));
  const wanted = plain(name.slice(0, 64));
  const match = closestMatch(wanted, [...byPlain.keys()], { maxDistance: Math.max(1, Math.floor(wanted.length / 3)) });
  return match === undefined ? undefined : byPlain.get(match);
}

/**
 * Whether a text can be hashed and stored as itself. Half of a surrogate pair has no UTF-8 form and would hash like
 * U+FFFD, so that two identifiers collide; SQLite's functions end a text at NUL.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a text takes more bytes than these in UTF-8, of which a character takes three at the most. */
export function hasMoreBytes(text: string, most: number): boolean {
  return 3 * text.length > most && new TextEncoder().encode(text).length > most;
}
