/** One string of a JSON text, and the colon after it if it is the name of a member. */
const stringToken = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs;

/**
 * Parses a JSON text. `JSON.parse` of Node 24 and 26 may return another name for a member whose name is escaped
 * (https://github.com/nodejs/node/issues/63785), so this function replaces these names before and restores them after.
 *
 * @throws {SyntaxError} if the text is not valid JSON
 */
export function parseJSON(text: string): unknown {
  if (!text.includes('\\')) return JSON.parse(text);
  // The text does not contain the mark, so that no name starts with it.
  let mark = '#';
  while (text.includes(mark)) mark += '#';
  const names = new Map<string, string>();
  const plain = text.replace(stringToken, (token, characters: string, colon: string | undefined) => {
    if (colon === undefined || !characters.includes('\\')) return token;
    const name = `${mark}${names.size}`;
    names.set(name, JSON.parse(`"${characters}"`) as string);
    return `"${name}"${colon}`;
  });
  const value: unknown = JSON.parse(plain);
  return names.size === 0 ? value : restoreNames(value, names);
}

function restoreNames(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => restoreNames(item, names));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [names.get(name) ?? name, restoreNames(member, names)]),
  );
}
