import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { fetchText, type FetchLimits } from '../lib/fetch-text.js';
import { parseJSON, stringifyJSON } from '../lib/json.js';
import type { Logger } from '../lib/log.js';
import { isTrustworthy, type OIDCSettings } from './oidc-settings.js';

/** For each document of the issuer. Those of large issuers have some 20 KiB. */
const defaultLimits: FetchLimits = { timeoutMs: 5_000, maxBytes: 256 * 1024 };
const refreshAfterMs = 600_000;
/** How long an issuer whose keys cannot be had is not asked again. */
export const retryAfterMs = 10_000;
/** How often a key that nobody knows may make us ask again. */
const cooldownMs = 30_000;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The keys of an issuer cannot be had. */
export class KeysUnavailable extends Error {}

/**
 * Finds the key of a token among those that the issuer publishes. They are fetched when they are first needed, again
 * for a key that is not among them, and every ten minutes beside the requests; while the issuer cannot be reached,
 * those that are known go on. Rejects with KeysUnavailable when none are known: each of the two documents has five seconds.
 */
export function createSigningKeys(
  settings: OIDCSettings,
  now: () => Date,
  log: Logger,
  limits = defaultLimits,
): JWTVerifyGetKey {
  let keys: RemoteKeys | undefined;
  let opening: Promise<RemoteKeys> | undefined;
  let asked = -Infinity;

  const sinceAsked = () => Math.abs(now().getTime() - asked);

  async function open(): Promise<RemoteKeys> {
    const url = settings.jwksURL ?? (await discover(settings.issuer, limits));
    // How old they may become is decided here: jose would do without keys that it cannot renew.
    const remote = createRemoteJWKSet(new URL(url), {
      timeoutDuration: limits.timeoutMs,
      cooldownDuration: cooldownMs,
      cacheMaxAge: Infinity,
      [customFetch]: async (keysURL, { headers, redirect }) => {
        const { status, text } = await fetchText(keysURL, { headers, redirect }, limits);
        // Written anew, so that no escaped member name reaches the JSON.parse of jose (nodejs/node#63785).
        return new Response(status === 200 ? stringifyJSON(parseJSON(text)) : null, { status });
      },
    });
    await remote.reload();
    return remote;
  }

  async function opened(): Promise<RemoteKeys> {
    if (keys) return keys;
    if (!opening) {
      // Strangers can make us come here, and an issuer that is down is not asked once for each of them.
      if (sinceAsked() < retryAfterMs) throw new KeysUnavailable();
      opening = open();
    }
    try {
      keys = await opening;
      return keys;
    } catch (error) {
      log.warn({ err: error }, 'the keys of the issuer of single sign-on cannot be had');
      throw new KeysUnavailable();
    } finally {
      asked = now().getTime();
      opening = undefined;
    }
  }

  function refresh(remote: RemoteKeys): void {
    asked = now().getTime();
    remote.reload().catch((error: unknown) => {
      asked = now().getTime() - refreshAfterMs + retryAfterMs;
      log.warn(
        { err: error },
        'the keys of the issuer of single sign-on cannot be renewed; those that are known go on',
      );
    });
  }

  return async (header, token) => {
    const remote = await opened();
    if (sinceAsked() >= refreshAfterMs) refresh(remote);
    return remote(header, token);
  };
}

/** Where the issuer's keys are, as it says itself. */
async function discover(issuer: string, limits: FetchLimits): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await fetchText(url, { redirect: 'error' }, limits);
  if (status !== 200) throw new Error(`${url} answers ${status}`);
  const found: unknown = parseJSON(text);
  const { issuer: named, jwks_uri: keys } = typeof found === 'object' && found !== null ? (found as Discovery) : {};
  if (named !== issuer) throw new Error(`${url} is of another issuer`);
  if (typeof keys !== 'string' || !isTrustworthy(keys, true)) throw new Error(`${url} has no jwks_uri to be believed`);
  return keys;
}

interface Discovery {
  readonly issuer?: unknown;
  readonly jwks_uri?: unknown;
}
