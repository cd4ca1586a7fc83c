import type { Path } from '../../lib/errors.js';
import { parseJSON } from '../../lib/json.js';

const segmentPattern = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g;

/** Parses a path that `pathText` formatted. Names that `pathText` shortened stay shortened. */
export function parsePath(text: string): Path {
  return [...text.matchAll(segmentPattern)].map(([, quoted, index, name = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name : unquote(quoted);
  });
}

function unquote(text: string): string {
  try {
    const name = parseJSON(`"${text}"`);
    return typeof name === 'string' ? name : text;
  } catch {
    return text;
  }
}
