import * as oauth from 'oauth4webapi';
import { responseTo } from './channel.js';

/** What the page says about sign-on. */
export interface SignOnSettings {
  readonly clientID: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly issuer: string;
  /** Null while the issuer does not respond. */
  readonly endpoints: oauth.AuthorizationServer | null;
}

/** A person who has signed on. The tokens are in memory only. */
export interface SignedOn {
  /** The present access token. It is renewed before it expires, if the issuer has given a refresh token. */
  readonly token: () => string;
  /** Renews the access token now. Returns whether there is a new one. */
  readonly renew: () => Promise<boolean>;
  /** Is fulfilled when the access token has expired and cannot be renewed any more, and never after a sign-out. */
  readonly ended: Promise<void>;
  /** Forgets the tokens, and revokes the refresh token if the issuer supports that. */
  readonly signOut: () => Promise<void>;
}

/** Why somebody could not sign on. */
export type SignOnProblem = 'denied' | 'failed' | 'unreachable';

/** A sign-on that the issuer has denied, or that could not be completed. */
export class SignOnError extends Error {
  readonly problem: SignOnProblem;
  /** The error code of the issuer, such as `access_denied`. */
  readonly detail: string;

  constructor(problem: SignOnProblem, detail = '') {
    super(`The sign-on is not complete: ${problem} ${detail}`);
    this.problem = problem;
    this.detail = detail;
  }
}

const requestTimeoutMs = 10_000;
/** An access token is renewed when this share of its time has passed. */
const renewAfterShare = 0.8;
const retryAfterMs = 10_000;
const maxTimerMs = 2 ** 31 - 1;

type Tokens = oauth.TokenEndpointResponse;

/**
 * Signs a person on in another window: authorization code with PKCE, state and nonce. The page stays as it is.
 *
 * @param popup - opened by the click of the person, because browsers block other windows
 * @throws {SignOnError} when it is denied or fails; the reason of the signal when it is aborted
 */
export async function signOn(settings: SignOnSettings, popup: Window, signal: AbortSignal): Promise<SignedOn> {
  const { endpoints: server, clientID, parameters } = settings;
  if (!server?.authorization_endpoint) throw new SignOnError('unreachable');
  const client: oauth.Client = { client_id: clientID };
  const [state, nonce, verifier] = [
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
    oauth.generateRandomCodeVerifier(),
  ];
  const redirectURI = `${location.origin}/sign-on`;
  const url = new URL(server.authorization_endpoint);
  const all = {
    scope: 'openid profile',
    ...parameters,
    client_id: clientID,
    response_type: 'code',
    redirect_uri: redirectURI,
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
  const response = responseTo(state, signal);
  // The window of the issuer must not reach this page.
  popup.opener = null;
  popup.location.replace(url.href);
  const received = await response;
  try {
    const code = oauth.validateAuthResponse(server, client, received, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      code,
      redirectURI,
      verifier,
      requestOptions(server, signal),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    signal.throwIfAborted();
    return hold(server, client, tokens);
  } catch (error) {
    signal.throwIfAborted();
    throw problemOf(error);
  }
}

function requestOptions(server: oauth.AuthorizationServer, signal?: AbortSignal) {
  return {
    signal: AbortSignal.any([AbortSignal.timeout(requestTimeoutMs), ...(signal ? [signal] : [])]),
    // The service permits http for loopback addresses only.
    [oauth.allowInsecureRequests]: server.token_endpoint?.startsWith('http://') === true,
  };
}

function problemOf(error: unknown): SignOnError {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return new SignOnError(error.error === 'access_denied' ? 'denied' : 'failed', error.error);
  }
  if (error instanceof TypeError || error instanceof DOMException) return new SignOnError('unreachable');
  // The body of the response may not arrive, either.
  const cause = error instanceof oauth.OperationProcessingError ? error.cause : undefined;
  if (cause instanceof DOMException && cause.name === 'TimeoutError') return new SignOnError('unreachable');
  return new SignOnError('failed', error instanceof oauth.OperationProcessingError ? error.code : undefined);
}

/** Keeps the tokens, and renews them before they expire. */
function hold(server: oauth.AuthorizationServer, client: oauth.Client, first: Tokens): SignedOn {
  let present = first;
  let refreshToken = first.refresh_token;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let renewing: Promise<boolean> | undefined;
  let expiresMs = Infinity;
  let endNow: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    endNow = resolve;
  });

  const runIn = (milliseconds: number, run: () => void) => {
    clearTimeout(timer);
    timer = setTimeout(run, Math.min(milliseconds, maxTimerMs));
  };
  const renewIn = (milliseconds: number) => runIn(milliseconds, () => void renew());
  const endAtExpiry = () => {
    if (expiresMs === Infinity) return;
    // The time may be longer than a timer can wait.
    runIn(expiresMs - Date.now(), () => (Date.now() < expiresMs ? endAtExpiry() : endNow()));
  };
  const schedule = ({ expires_in: seconds = Infinity }: Tokens) => {
    expiresMs = Date.now() + seconds * 1000;
    if (refreshToken === undefined) endAtExpiry();
    else if (seconds !== Infinity) renewIn(seconds * 1000 * renewAfterShare);
  };

  async function request(sent: string): Promise<boolean> {
    try {
      const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), sent, requestOptions(server));
      const tokens = await oauth.processRefreshTokenResponse(server, client, answer);
      // Signed out meanwhile.
      if (refreshToken === undefined) return false;
      present = tokens;
      refreshToken = tokens.refresh_token ?? sent;
      schedule(tokens);
      return true;
    } catch (error) {
      // A token that the issuer rejects is of no more use; without a response, it may be.
      if (refreshToken === undefined) return false;
      if (error instanceof oauth.ResponseBodyError) {
        refreshToken = undefined;
        endAtExpiry();
      } else renewIn(retryAfterMs);
      return false;
    }
  }

  function renew(): Promise<boolean> {
    if (refreshToken === undefined) return Promise.resolve(false);
    renewing ??= request(refreshToken).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  schedule(first);
  return {
    token: () => present.access_token,
    renew,
    ended,
    signOut: async () => {
      clearTimeout(timer);
      const sent = refreshToken;
      refreshToken = undefined;
      if (sent === undefined || server.revocation_endpoint === undefined) return;
      await oauth.revocationRequest(server, client, oauth.None(), sent, requestOptions(server)).catch(() => undefined);
    },
  };
}
