/**
 * Whether a text can be hashed and stored as itself. Half of a surrogate pair has no UTF-8 form and would hash like
 * U+FFFD, so that two identifiers collide; SQLite's functions end a text at NUL.
 */
export function isSound(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether a text takes more bytes than these in UTF-8, of which a character takes three at the most. */
export function hasMoreBytes(text: string, most: number): boolean {
  return 3 * text.length > most && new TextEncoder().encode(text).length > most;
}

/** Names that reach an object's prototype in careless code somewhere down the line. */
export const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
