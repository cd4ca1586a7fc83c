import type { Logger } from '../lib/log.js';
import { withTimeout } from '../lib/timeout.js';
import { discover, documentLimits, endpointOf, type Discovery } from './oidc-discovery.js';
import type { BrowserClient, OIDCSettings } from './oidc-settings.js';

/** What a page needs to sign a person on. */
export interface SignOnPage {
  /** JSON: the client, its parameters, and the endpoints of the issuer, null while it does not respond. */
  readonly settings: string;
  /** The origins that scripts of the page may send requests to. */
  readonly origins: readonly string[];
}

/** Returns what a page needs to sign a person on. Waits at most two seconds for an issuer that has not responded yet. */
export type SignOn = () => Promise<SignOnPage>;

const refreshAfterMs = 600_000;
const retryAfterMs = 10_000;
const maxWaitMs = 2_000;

/**
 * Creates the function that pages get their sign-on from. It fetches the discovery document of the issuer at the first page, and
 * again after ten minutes, or ten seconds after a failure.
 */
export function createSignOn(
  { issuer }: Pick<OIDCSettings, 'issuer'>,
  { clientID, parameters }: BrowserClient,
  now: () => Date,
  log: Logger,
): SignOn {
  let endpoints: Discovery | undefined;
  let fetching: Promise<void> | undefined;
  let lastMs = -Infinity;

  const fetchEndpoints = () =>
    discover(issuer, documentLimits)
      .then((discovery) => {
        endpoints = endpointsOf(discovery);
      })
      .catch((err: unknown) => log.warn({ err }, 'the endpoints of the single sign-on issuer cannot be fetched'))
      .finally(() => {
        lastMs = now().getTime();
        fetching = undefined;
      });

  return async () => {
    const isDue = Math.abs(now().getTime() - lastMs) >= (endpoints ? refreshAfterMs : retryAfterMs);
    if (isDue) fetching ??= fetchEndpoints();
    if (!endpoints && fetching) await withTimeout(maxWaitMs, fetching, () => undefined);
    const found = endpoints;
    const called = ['token_endpoint', 'revocation_endpoint'].flatMap(
      (name) => (found && endpointOf(found, name)) ?? [],
    );
    return {
      settings: JSON.stringify({ clientID, parameters, issuer, endpoints: endpoints ?? null }),
      origins: [...new Set(called.map((url) => new URL(url).origin))],
    };
  };
}

/** @throws {Error} when the issuer cannot sign people on in a browser. */
function endpointsOf(discovery: Discovery): Discovery {
  const names = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'];
  const found = Object.fromEntries(names.map((name) => [name, endpointOf(discovery, name)]));
  if (found['authorization_endpoint'] === undefined || found['token_endpoint'] === undefined) {
    throw new Error('the discovery document has no trustworthy authorization_endpoint or token_endpoint');
  }
  return {
    issuer: discovery['issuer'],
    ...found,
    id_token_signing_alg_values_supported: discovery['id_token_signing_alg_values_supported'],
    authorization_response_iss_parameter_supported: discovery['authorization_response_iss_parameter_supported'],
  };
}
