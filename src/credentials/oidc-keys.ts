import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '../lib/log.js';
import { discover, documentLimits, endpointOf, fetchDocument } from './oidc-discovery.js';
import type { OIDCSettings } from './oidc-settings.js';

const refreshAfterMs = 600_000;
/** Minimum time in milliseconds between requests to an issuer that failed. */
export const retryAfterMs = 10_000;
/** Minimum time between two fetches because of an unknown key. */
const cooldownMs = 30_000;

type Keys = ReturnType<typeof createLocalJWKSet>;

/** The keys of the issuer cannot be fetched. */
export class KeysUnavailable extends Error {}

/**
 * Creates the function that finds the key of a token among the published keys of the issuer. It fetches the keys on
 * first use, again for an unknown key, and every ten minutes in the background. While the issuer is unreachable, the
 * fetched keys stay in use. Whatever tokens strangers send, there is one fetch at a time, at most one in 30 seconds, or in 10
 * after a failure.
 *
 * @param limits - apply to each of the two documents of the issuer
 * @throws {KeysUnavailable} from the returned function, when the keys cannot be fetched and none fits the token.
 */
export function createSigningKeys(
  { issuer, jwksURL }: Pick<OIDCSettings, 'issuer' | 'jwksURL'>,
  now: () => Date,
  log: Logger,
  limits = documentLimits,
): JWTVerifyGetKey {
  let keys: Keys | undefined;
  let fetching: Promise<Keys> | undefined;
  let last: { readonly atMs: number; readonly hasFailed: boolean } = { atMs: -Infinity, hasFailed: false };

  const msSinceFetch = () => Math.abs(now().getTime() - last.atMs);

  async function fetchKeys(): Promise<Keys> {
    const url = jwksURL ?? endpointOf(await discover(issuer, limits), 'jwks_uri');
    if (url === undefined) throw new Error(`the discovery document of ${issuer} has no trustworthy jwks_uri`);
    // `fetchDocument` reads no escaped member name as another one (nodejs/node#63785), and jose verifies the form.
    return createLocalJWKSet((await fetchDocument(url, limits)) as unknown as JSONWebKeySet);
  }

  /** Fetches the keys, once for all that wait for them. */
  function renew(): Promise<Keys> {
    fetching ??= fetchKeys()
      .then(
        (fetched) => {
          last = { atMs: now().getTime(), hasFailed: false };
          return (keys = fetched);
        },
        (err: unknown) => {
          last = { atMs: now().getTime(), hasFailed: true };
          const outcome = keys ? 'renewed; the fetched keys stay in use' : 'fetched';
          log.warn({ err }, `the keys of the single sign-on issuer cannot be ${outcome}`);
          throw new KeysUnavailable();
        },
      )
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  }

  /** The keys, of the last fetch if there was one. Without a limit, each token would cause a request to an issuer that is down. */
  async function presentKeys(): Promise<Keys> {
    if (!keys) {
      if (!fetching && last.hasFailed && msSinceFetch() < retryAfterMs) throw new KeysUnavailable();
      return renew();
    }
    const isDue = msSinceFetch() >= (last.hasFailed ? retryAfterMs : refreshAfterMs);
    if (isDue) renew().catch(() => undefined);
    return keys;
  }

  return async (header, token) => {
    const present = await presentKeys();
    try {
      return await present(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (!fetching && msSinceFetch() < (last.hasFailed ? retryAfterMs : cooldownMs)) {
        // Its key may be new.
        throw last.hasFailed ? new KeysUnavailable() : error;
      }
      return (await renew())(header, token);
    }
  };
}
