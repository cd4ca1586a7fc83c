/** PostgreSQL has no text with NUL in it, and refuses a statement that is given one. Nothing of ours holds any. */
export function isValidPgText(text: string): boolean {
  return !text.includes('\0');
}

/** A place in an order that may never have been one of ours, as a text that the database takes. */
export function placeOf<T extends string | bigint>(value: T): T {
  return (typeof value === 'string' ? value.replaceAll('\0', '\u0001') : value) as T;
}
