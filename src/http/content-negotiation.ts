import Negotiator from 'negotiator';

/**
 * Returns the type that an `Accept` header prefers, the first of equals; undefined if the header accepts none of
 * `types`. A missing header accepts every type. Responses are UTF-8, so a range with another charset matches no type.
 */
export function preferredType<T extends string>(accept: string | null, types: readonly T[]): T | undefined {
  const offers = types.flatMap((type) => [type, `${type};charset=utf-8`]);
  const best = new Negotiator({ headers: { accept: accept || '*/*' } }).mediaType(offers);
  return types.find((type) => type === best?.split(';', 1)[0]);
}

/** The first of `codings` that an `Accept-Encoding` header accepts with any weight; undefined if it accepts none. */
export function acceptedCoding<T extends string>(acceptEncoding: string | null, codings: readonly T[]): T | undefined {
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding ?? '' } }).encodings([...codings]);
  return codings.find((coding) => accepted.includes(coding));
}

/** Whether `If-None-Match` contains the entity tag. Weak tags match too: proxies weaken tags when they compress. */
export function matchesEntityTag(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
