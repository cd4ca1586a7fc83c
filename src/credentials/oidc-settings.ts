import { isLoopback } from '../lib/loopback.js';

/** The single sign-on issuer whose tokens are accepted as management credentials. */
export interface OIDCSettings {
  /** Exactly as in the `iss` claim. */
  readonly issuer: string;
  readonly audience: string;
  /** The URL of the issuer's keys; undefined to read it from `/.well-known/openid-configuration`. */
  readonly jwksURL: string | undefined;
  /** The claim with the organisation that a caller is bound to; undefined if callers are not bound. */
  readonly orgClaim: string | undefined;
}

/** Whether keys from the URL can be trusted: a network attacker cannot replace them. */
export function isTrustworthy(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || (search !== '' && !mayHaveQuery)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
