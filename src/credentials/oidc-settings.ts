import { isLoopback } from '../lib/loopback.js';

/** The single sign-on issuer whose tokens are accepted as management credentials. */
export interface OIDCSettings {
  /** Exactly as in the `iss` claim. */
  readonly issuer: string;
  readonly audience: string;
  /** The URL of the issuer's keys; undefined to read it from `/.well-known/openid-configuration`. */
  readonly jwksURL: string | undefined;
  /** The claim with the organization that a caller is bound to; undefined if callers are not bound. */
  readonly orgClaim: string | undefined;
}

/** Whether the URL is safe from a network attacker, who could replace the keys: https, or http on loopback. */
export function isTrustworthy(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || (search !== '' && !mayHaveQuery)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
