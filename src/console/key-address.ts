/** Returns the hash in the address of a key; undefined for other addresses. A malformed one is the hash of no key. */
export function keyHashAt(pathname: string): string | undefined {
  const segment = /^\/console\/keys\/([^/]+)$/.exec(pathname)?.[1];
  try {
    return segment && decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
