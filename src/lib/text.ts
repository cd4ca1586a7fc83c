/** Replaces line breaks, control characters and bidi marks, so that text is safe in a line of a terminal or log. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}

/** Applies {@link printable} to each line of a text. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/**
 * Whether a text can be hashed and stored unchanged. A lone surrogate has no UTF-8 encoding and would hash like U+FFFD,
 * so that two identifiers would collide. SQLite functions end a text at NUL.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a text has more bytes in UTF-8 than `maxBytes`. A UTF-16 code unit has at most three. */
export function hasMoreBytes(text: string, maxBytes: number): boolean {
  return 3 * text.length > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}
