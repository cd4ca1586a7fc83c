import type { Path } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';

const step = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g;

/** The path that `pathText` wrote, as far as it told: what it cut short stays so. */
export function parsePath(text: string): Path {
  return [...text.matchAll(step)].map(([, quoted, index, name = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : unquoted(quoted);
  });
}

function unquoted(text: string): string {
  try {
    const name = parseJSON(`"${text}"`);
    return typeof name === 'string' ? name : text;
  } catch {
    return text;
  }
}
