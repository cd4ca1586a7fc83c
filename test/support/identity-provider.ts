import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

/** An OpenID provider (the package oidc-provider) on a port of its own. */
export interface IdentityProvider {
  readonly url: string;
  /** The requested paths, in order. */
  readonly requested: readonly string[];
  /** What its tokens say of the one account. */
  claims: Readonly<Record<string, unknown>>;
  /** How requests are treated: a response, a closed connection, or none. */
  mood: 'well' | 'gone' | 'silent';
  /** Seconds for which its access tokens are valid. */
  tokenSeconds: number;
  /** Whether public clients get a refresh token. */
  hasRefreshTokens: boolean;
  /** Permits its public client `console` to return to this address. */
  readonly returnTo: (redirectURI: string) => void;
  /** Replaces its signing key, and forgets its sessions. */
  readonly rotateKey: () => void;
  /** Returns a token of the service account `ci`. */
  readonly serviceToken: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The audience of its access tokens. */
export const audience = 'https://keyfront.example';

/** Starts a provider. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const redirectURIs: string[] = [];
  const requested: string[] = [];
  let provider: Provider;
  const server = createServer((request, response) => {
    requested.push(`${request.method} ${(request.url ?? '').split('?')[0]}`);
    if (idp.mood === 'silent') return;
    if (idp.mood === 'gone') return void request.socket.destroy();
    void respond(provider, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = () => {
    provider = new Provider(
      url,
      configurationOf(() => idp, redirectURIs),
    );
    // It warns that an http address is not for production.
    provider.proxy = false;
  };
  const idp: IdentityProvider = {
    url,
    requested,
    claims: {},
    mood: 'well',
    tokenSeconds: 300,
    hasRefreshTokens: true,
    returnTo: (redirectURI) => {
      redirectURIs.push(redirectURI);
      start();
    },
    rotateKey: start,
    serviceToken: async () => {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('ci:of the tests').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`The provider returned status ${response.status}.`);
      return token;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  start();
  return idp;
}

function configurationOf(idp: () => IdentityProvider, redirectURIs: readonly string[]): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  return {
    jwks: { keys: [key] },
    cookies: { keys: ['of the tests'] },
    clients: [
      {
        client_id: 'console',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [...redirectURIs],
      },
      {
        client_id: 'ci',
        client_secret: 'of the tests',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientBasedCORS: () => true,
    // Without them, the provider prints a notice for each.
    ttl: { ClientCredentials: 300, Grant: 3600, IdToken: 300, Interaction: 300, RefreshToken: 3600, Session: 3600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: idp().tokenSeconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    issueRefreshToken: (_context, client) => idp().hasRefreshTokens && client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    extraTokenClaims: () => ({ ...idp().claims }),
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...idp().claims }) }),
    loadExistingGrant: async (context) => {
      const { oidc } = context;
      const grant = new oidc.provider.Grant({
        ...(oidc.client && { clientId: oidc.client.clientId }),
        ...(oidc.session?.accountId !== undefined && { accountId: oidc.session.accountId }),
      });
      grant.addOIDCScope('openid profile offline_access');
      grant.addResourceScope(audience, '');
      await grant.save();
      return grant;
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  };
}

/** The page on which a person signs in, or denies it; everything else is the provider's. */
async function respond(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, uid, action] = /^\/interaction\/([\w-]+)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
  if (uid === undefined) {
    await provider.callback()(request, response);
    return;
  }
  if (action === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
  } else if (action === 'deny') {
    await provider.interactionFinished(request, response, { error: 'access_denied' });
  } else {
    response.writeHead(200, { 'content-type': 'text/html', 'cross-origin-opener-policy': 'same-origin' });
    response.end(`<a href="/interaction/${uid}/login">Continue as Ada</a> <a href="/interaction/${uid}/deny">Deny</a>`);
  }
}
