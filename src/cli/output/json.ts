import { stringifyJSON } from '../../lib/json.js';

// What `printable` takes out of a text, JSON can also write as an escape, which says the same to every reader of JSON.
// The line feeds of an indented text stand outside of its strings.
const steering = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** JSON on one line in which no character steers a terminal. */
export function toJSONLine(value: unknown): string {
  return stringifyJSON(value).replace(steering, escaped);
}

/** The same over several lines, for people to edit. */
export function toIndentedJSON(value: unknown): string {
  return stringifyJSON(value, 2).replace(steering, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
