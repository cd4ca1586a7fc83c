import { isLoopback } from '../lib/loopback.js';
import type { ClaimMapping } from './oidc-mapping.js';

/** The client by which people sign on in a browser. */
export interface BrowserClient {
  /** Of a public client: a browser keeps no secret. */
  readonly clientID: string;
  /** Further parameters of the authorization request, such as `audience`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The issuer of single sign-on whose tokens are accepted as credentials. */
export interface OIDCSettings {
  /** Exactly as in the `iss` claim. */
  readonly issuer: string;
  readonly audience: string;
  /** The URL of the issuer's keys; undefined to read it from `/.well-known/openid-configuration`. */
  readonly jwksURL: string | undefined;
  /** What the claims of a token permit. */
  readonly mapping: ClaimMapping;
  /** The client by which people sign on in a browser; undefined if they cannot. */
  readonly browserClient?: BrowserClient | undefined;
}

/** Whether the URL is safe from a network attacker, who could replace the keys: https, or http on loopback. */
export function isTrustworthy(text: string, mayHaveQuery: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || (search !== '' && !mayHaveQuery)) return false;
  // Several URLs in a list would be read as one.
  if (hostname.includes(',')) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
