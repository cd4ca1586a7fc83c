import { stringifyJSON } from '../../lib/json.js';

// Control and bidirectional characters, which terminals interpret. A JSON parser decodes the escapes to the same text.
const controlCharacters = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** JSON on one line, with control characters escaped. */
export function toJSONLine(value: unknown): string {
  return stringifyJSON(value).replace(controlCharacters, escape);
}

/** Indented JSON, with control characters escaped except for the line feeds of the layout. */
export function toIndentedJSON(value: unknown): string {
  return stringifyJSON(value, 2).replace(controlCharacters, (character) =>
    character === '\n' ? character : escape(character),
  );
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
