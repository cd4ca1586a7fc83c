import Negotiator from 'negotiator';

/**
 * The one of `types` that an `Accept` header prefers, the first of equals; undefined if it accepts none. Responses are
 * UTF-8, so that a range with another charset accepts none. Without a header every type is accepted.
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

/** Whether `If-None-Match` names the entity tag. The tag may be weak: proxies mark it so when they compress a response. */
export function matchesEntityTag(ifNoneMatch: string | null, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
