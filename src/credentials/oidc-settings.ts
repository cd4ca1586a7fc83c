import { isLoopback } from '../lib/loopback.js';

/** The issuer of single sign-on whose tokens stand for management credentials. */
export interface OIDCSettings {
  /** Exactly as the issuer writes itself in `iss`. */
  readonly issuer: string;
  readonly audience: string;
  /** The URL of the issuer's keys; undefined to read it from `/.well-known/openid-configuration`. */
  readonly jwksURL: string | undefined;
  /** The claim that binds a caller to an organisation; undefined if callers are bound to none. */
  readonly orgClaim: string | undefined;
}

/** Whether keys from the URL can be trusted: a network attacker cannot replace them. */
export function isTrustworthy(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || (search !== '' && !mayHaveQuery)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
