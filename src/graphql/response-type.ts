import { LRUCache } from 'lru-cache';
import { preferredType } from '../http/content-negotiation.js';

const jsonTypes = ['application/graphql-response+json', 'application/json'] as const;

/** The media type of a response in JSON. */
export type JSONType = (typeof jsonTypes)[number];

/** Longer headers are negotiated for each request. */
const maxCachedLength = 256;

/** The most recent headers; false for a header that is left to Yoga. */
const cache = new LRUCache<string, JSONType | false>({ max: 64 });

/**
 * Returns the type of a JSON response to a request with this `Accept` header; undefined when Yoga may respond with
 * another type or reject the request.
 */
export function negotiateJSON(accept: string | null): JSONType | undefined {
  const header = accept || '*/*';
  let type = cache.get(header);
  if (type === undefined) {
    type = (preferredType(header, jsonTypes) !== undefined && firstMatch(header)) || false;
    if (header.length <= maxCachedLength) cache.set(header, type);
  }
  return type || undefined;
}

/** Follows Yoga: the first range that matches a JSON type decides, `application/json` for a range that matches both. */
function firstMatch(header: string): JSONType | undefined {
  for (const range of header.replace(/\s/g, '').toLowerCase().split(',')) {
    const [mediaType = '', ...parameters] = range.split(';');
    const charset = parameters.find((parameter) => parameter.includes('charset='));
    if (charset !== undefined && charset !== 'charset=utf-8') continue;
    const [type, subtype] = mediaType.split('/');
    const matches = jsonTypes.filter((jsonType) => {
      const [ownType, ownSubtype] = jsonType.split('/');
      return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype);
    });
    if (matches.length > 0) return matches.at(-1);
  }
  return undefined;
}
