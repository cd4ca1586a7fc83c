const base = '/console/policies';

/** The address of the page of a policy. */
export function policyAddress(policyID: string): string {
  return `${base}/${encodeURIComponent(policyID)}`;
}

/** The identifier of the policy whose page an address names. */
export function policyIDAt(pathname: string): string | undefined {
  const encoded = /^\/console\/policies\/([^/]+)$/.exec(pathname)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    // Not an encoding: no policy has this identifier.
    return encoded;
  }
}
