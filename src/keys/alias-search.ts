/** The maximum length of a text that is searched for in aliases, in UTF-16 code units. */
export const maxSearchText = 256;

/** Whether a text may be searched for. */
export function isSearchText(text: string): boolean {
  return text.length <= maxSearchText && text.isWellFormed();
}

/** What {@link isSearchText} expects, for messages. */
export const searchTextRule = `must have at most ${maxSearchText} characters, without half of a surrogate pair`;

/**
 * The regular expression of aliases that contain a text, in which the upper and the lower case of a letter are equal. It
 * consists of characters and of lists of characters only, so that SQLite, where JavaScript evaluates it, and PostgreSQL find
 * the same aliases, whatever the locale of the database is.
 */
export function containsPattern(text: string): string {
  return Array.from(text, (character) => {
    const cases = casesOf(character);
    return cases.length > 1 ? `[${cases.join('')}]` : character.replace(/[$()*+.?[\\\]^{|}]/, String.raw`\$&`);
  }).join('');
}

/** The character and its other case; cases of several characters, such as that of ß, are left out. */
function casesOf(character: string): string[] {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  const all = [character, lower, upper, upper.toLowerCase(), lower.toUpperCase()];
  return [...new Set(all)].filter((one) => [...one].length === 1);
}

/** Returns a test of texts by a pattern of `containsPattern`. */
export function createSearch(): (text: string, pattern: string) => boolean {
  let last = '';
  let expression = /(?:)/u;
  return (text, pattern) => {
    // One search compares many texts with the same pattern.
    if (pattern !== last) [last, expression] = [pattern, new RegExp(pattern, 'u')];
    return expression.test(text);
  };
}
