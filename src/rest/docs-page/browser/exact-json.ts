const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Indents JSON and keeps the digits of integers beyond 2^53, which parsing rounds.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export function indentExactly(json: string): string {
  // Long integers pass through the parser as strings; U+0000 marks them, which no other string starts with.
  const marked = json.replace(tokens, (token) => (/^-?\d{16,}$/.test(token) ? `"\\u0000${token}"` : token));
  return JSON.stringify(JSON.parse(marked), null, 2).replace(/"\\u0000(-?\d+)"/g, '$1');
}

/** Returns the text indented with exact integers, or undefined if ordinary formatting keeps all digits. */
export function exactJSON(text: string): string | undefined {
  try {
    const exact = indentExactly(text);
    return exact === JSON.stringify(JSON.parse(text), null, 2) ? undefined : exact;
  } catch {
    return undefined;
  }
}
