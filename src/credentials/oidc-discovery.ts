import { fetchText, type FetchLimits } from '../lib/fetch-text.js';
import { parseJSON } from '../lib/json.js';
import { isTrustworthy } from './oidc-settings.js';

/** Limits for each document of the issuer. Documents of large issuers have about 20 KiB. */
export const documentLimits: FetchLimits = { timeoutMs: 5_000, maxBytes: 256 * 1024 };

/** The discovery document of an issuer: `/.well-known/openid-configuration`. */
export type Discovery = Readonly<Record<string, unknown>>;

/**
 * Fetches a JSON document of the issuer.
 *
 * @throws {Error} when the issuer does not respond with a JSON object in time.
 */
export async function fetchDocument(url: string, limits: FetchLimits): Promise<Discovery> {
  const { status, text } = await fetchText(url, { redirect: 'error' }, limits);
  if (status !== 200) throw new Error(`${url} returned status ${status}`);
  const found: unknown = parseJSON(text);
  if (typeof found !== 'object' || found === null) throw new Error(`${url} is no JSON object`);
  return found as Discovery;
}

/**
 * Fetches the discovery document of an issuer.
 *
 * @throws {Error} when it cannot be fetched, or is that of another issuer.
 */
export async function discover(issuer: string, limits: FetchLimits): Promise<Discovery> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = await fetchDocument(url, limits);
  if (found['issuer'] !== issuer) throw new Error(`${url} names another issuer`);
  return found;
}

/** Returns a member with a URL that is safe from a network attacker; undefined if there is none. */
export function endpointOf(discovery: Discovery, name: string): string | undefined {
  const url = discovery[name];
  return typeof url === 'string' && isTrustworthy(url, true) ? url : undefined;
}
