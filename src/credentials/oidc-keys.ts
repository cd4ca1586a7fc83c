import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { fetchText, type FetchLimits } from '../lib/fetch-text.js';
import { parseJSON, stringifyJSON } from '../lib/json.js';
import type { Logger } from '../lib/log.js';
import { isTrustworthy, type OIDCSettings } from './oidc-settings.js';

/** Limits for each document of the issuer. Documents of large issuers have about 20 KiB. */
const defaultLimits: FetchLimits = { timeoutMs: 5_000, maxBytes: 256 * 1024 };
const refreshAfterMs = 600_000;
/** Minimum time in milliseconds between requests to an issuer that failed. */
export const retryAfterMs = 10_000;
/** Minimum time between two fetches because of an unknown key. */
const cooldownMs = 30_000;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The keys of the issuer cannot be fetched. */
export class KeysUnavailable extends Error {}

/**
 * Creates the function that finds the key of a token among the published keys of the issuer. It fetches the keys on
 * first use, again for an unknown key, and every ten minutes in the background. While the issuer is unreachable, the
 * fetched keys stay in use.
 *
 * @param limits - apply to each of the two documents of the issuer
 * @throws {KeysUnavailable} from the returned function, when the keys cannot be fetched and none fits the token.
 */
export function createSigningKeys(
  settings: OIDCSettings,
  now: () => Date,
  log: Logger,
  limits = defaultLimits,
): JWTVerifyGetKey {
  let keys: RemoteKeys | undefined;
  let fetching: Promise<RemoteKeys> | undefined;
  let lastRequest = -Infinity;

  const msSinceRequest = () => Math.abs(now().getTime() - lastRequest);

  async function fetchKeys(): Promise<RemoteKeys> {
    const url = settings.jwksURL ?? (await discover(settings.issuer, limits));
    // No expiry in jose, which would drop keys that it cannot renew. `refresh` below renews them.
    const remote = createRemoteJWKSet(new URL(url), {
      timeoutDuration: limits.timeoutMs,
      cooldownDuration: cooldownMs,
      cacheMaxAge: Infinity,
      [customFetch]: async (keysURL, { headers, redirect }) => {
        try {
          const { status, text } = await fetchText(keysURL, { headers, redirect }, limits);
          if (status !== 200) throw new Error(`${keysURL} returned status ${status}`);
          // Serialized again, so that no escaped member name reaches the JSON.parse of jose (nodejs/node#63785).
          return new Response(stringifyJSON(parseJSON(text)));
        } catch (cause) {
          throw new KeysUnavailable('The keys of the issuer cannot be fetched.', { cause });
        }
      },
    });
    await remote.reload();
    return remote;
  }

  async function fetchedKeys(): Promise<RemoteKeys> {
    if (keys) return keys;
    if (!fetching) {
      // Without this limit, each unauthenticated request would cause a request to an issuer that is down.
      if (msSinceRequest() < retryAfterMs) throw new KeysUnavailable();
      fetching = fetchKeys();
    }
    try {
      keys = await fetching;
      return keys;
    } catch (error) {
      log.warn({ err: error }, 'the keys of the single sign-on issuer cannot be fetched');
      throw new KeysUnavailable();
    } finally {
      lastRequest = now().getTime();
      fetching = undefined;
    }
  }

  function refresh(remote: RemoteKeys): void {
    lastRequest = now().getTime();
    remote.reload().catch((error: unknown) => {
      lastRequest = now().getTime() - refreshAfterMs + retryAfterMs;
      log.warn({ err: error }, 'the keys of the single sign-on issuer cannot be renewed; the fetched keys stay in use');
    });
  }

  return async (header, token) => {
    const remote = await fetchedKeys();
    if (msSinceRequest() >= refreshAfterMs) refresh(remote);
    return remote(header, token);
  };
}

/** Returns the URL of the issuer's keys from its discovery document. */
async function discover(issuer: string, limits: FetchLimits): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await fetchText(url, { redirect: 'error' }, limits);
  if (status !== 200) throw new Error(`${url} returned status ${status}`);
  const found: unknown = parseJSON(text);
  const { issuer: documentIssuer, jwks_uri: keys } =
    typeof found === 'object' && found !== null ? (found as Discovery) : {};
  if (documentIssuer !== issuer) throw new Error(`${url} names another issuer`);
  if (typeof keys !== 'string' || !isTrustworthy(keys, true)) throw new Error(`${url} has no trustworthy jwks_uri`);
  return keys;
}

interface Discovery {
  readonly issuer?: unknown;
  readonly jwks_uri?: unknown;
}
