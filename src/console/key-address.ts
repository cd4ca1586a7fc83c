/** The hash of the key whose page an address names. */
export function keyHashAt(pathname: string): string | undefined {
  return /^\/console\/keys\/([^/]+)$/.exec(pathname)?.[1];
}

/** The address of the page of a key. */
export function keyAddress(keyHash: string): string {
  return `/console/keys/${keyHash}`;
}
