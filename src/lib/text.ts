import { closestMatch } from 'leven';

/** Replaces line breaks, control characters and bidi marks, so that text is safe in a line of a terminal or log. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Returns the closest match for a misspelt name. Case and underscores are ignored. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.replaceAll('_', '').toLowerCase();
  const byPlain = new Map([...known].map((candidate) => [plain(candidate), candidate]));
  const wanted = plain(name.slice(0, 64));
  const match = closestMatch(wanted, [...byPlain.keys()], { maxDistance: Math.max(1, Math.floor(wanted.length / 3)) });
  return match === undefined ? undefined : byPlain.get(match);
}

/**
 * Whether a text can be hashed and stored unchanged. Half of a surrogate pair has no UTF-8 form and would hash like U+FFFD,
 * so that two identifiers would collide. SQLite functions end a text at NUL.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a text has more bytes in UTF-8 than `maxBytes`. A UTF-16 code unit has at most three. */
export function hasMoreBytes(text: string, maxBytes: number): boolean {
  return 3 * text.length > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}
