import {
  credentialKinds,
  noCredential,
  type AuthRequest,
  type CredentialKind,
  type CredentialStore,
  type Authenticator,
  type AuthContext,
  type RejectedCredential,
  type RejectionReason,
} from './credential.js';
import { AppError } from '../lib/errors.js';
import type { Principal } from '../keys/key.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import { createAttemptLimiter } from './attempt-limiter.js';
import { createOIDCVerifier, isJWTShaped } from './oidc.js';
import type { OIDCSettings } from './oidc-settings.js';
import { credentialKindOf, hashToken, isTokenShaped } from './token.js';
import { createLastUsedRecorder } from './last-used.js';

interface AuthenticatorDeps {
  readonly store: CredentialStore;
  /** Undefined if single sign-on is not configured. */
  readonly oidc?: OIDCSettings | undefined;
  readonly now: () => Date;
  readonly log: Logger;
  readonly meter?: Meter | undefined;
}

interface ClosableAuthenticator extends Authenticator {
  /** Writes the buffered last uses of credentials. */
  readonly close: () => Promise<void>;
}

/** Why a credential is not valid. Logged, and never part of a response. */
interface TokenRejection {
  readonly reason: RejectionReason;
  readonly credentialID?: string;
  /** Whether it is not an attempt to guess a credential: it is not one of ours, or it is genuine. */
  readonly isExcused?: boolean;
  /** Seconds until a retry, if the credential cannot be verified now. */
  readonly retryAfterSeconds?: number;
}

/**
 * Creates the authenticator of both credential headers. A credential that is missing, malformed, repeated, unknown,
 * expired, revoked or of the other kind yields no principal. Only the log contains the reason.
 *
 * A request may have an `Authorization` for other services, which routers forward. It is no failed attempt, and is logged only
 * when an operation needs ours in its place.
 */
export function createAuthenticator({ store, oidc, now, log, meter }: AuthenticatorDeps): ClosableAuthenticator {
  const uses = createLastUsedRecorder(store, log);
  const failures = createAttemptLimiter(now);
  const verifyJWT = oidc && createOIDCVerifier(oidc, now, log);

  async function verifyToken(kind: CredentialKind, token: string): Promise<Principal | TokenRejection> {
    const found = await store.findBySecretHash(hashToken(token), now());
    if (found === undefined) return { reason: 'unknown' };
    const { id, label, orgID, scopes, state } = found;
    if (found.kind !== kind) return { reason: 'other kind', credentialID: id };
    if (state !== 'active') return { reason: state, credentialID: id };
    uses.note(id, now());
    return { credentialID: id, label, orgID, ...(scopes && { scopes }) };
  }

  async function verify(kind: CredentialKind, presented: string): Promise<Principal | TokenRejection> {
    const token = kind === 'management' ? bearerToken(presented) : presented;
    if (token !== undefined && isTokenShaped(token)) return verifyToken(kind, token);
    if (kind === 'service' || isLikeOurs(presented)) return { reason: 'malformed' };
    if (token !== undefined && verifyJWT && isJWTShaped(token)) return verifyJWT(token);
    return { reason: 'malformed', isExcused: true };
  }

  async function authenticate({
    headers,
    requestID,
    clientAddress,
    kinds = credentialKinds,
  }: AuthRequest): Promise<AuthContext> {
    const principals: Partial<Record<CredentialKind, Principal>> = {};
    const rejected: Partial<Record<CredentialKind, RejectedCredential>> = {};
    for (const kind of kinds) {
      const presented = headers.get(headerOf[kind]) ?? '';
      // A missing credential is not a failed attempt.
      if (presented === '') continue;
      const found = await verify(kind, presented);
      if (!('reason' in found)) {
        principals[kind] = found;
        continue;
      }
      const { isExcused = false, retryAfterSeconds, ...rejection } = found;
      const waitSeconds =
        isExcused || clientAddress === undefined ? undefined : failures.count(clientAddress, attemptKeyOf(presented));
      const level = waitSeconds === undefined ? 'info' : 'debug';
      let isReported = false;
      const report = () => {
        if (isReported) return;
        isReported = true;
        // After the response, whose time must not depend on the length of the log line.
        setTimeout(() => {
          meter?.authenticationFailed(kind, rejection.reason);
          log[level](
            { event: 'authentication', verdict: 'rejected', kind, ...rejection, clientAddress, requestID },
            'rejected',
          );
        }, logDelayMs);
      };
      if (!isExcused) report();
      if (waitSeconds !== undefined) rejected[kind] = { report, error: tooManyAttempts(waitSeconds) };
      else if (retryAfterSeconds !== undefined) rejected[kind] = { report, error: notVerifiable(retryAfterSeconds) };
      else rejected[kind] = { report };
    }
    return { ...principals, ...(Object.keys(rejected).length > 0 && { rejected }) };
  }

  return {
    authenticate,
    close: uses.close,
    async revalidate(kind, headers) {
      const found = await verify(kind, headers.get(headerOf[kind]) ?? '');
      if (!('reason' in found)) return;
      throw found.retryAfterSeconds === undefined ? noCredential(kind) : notVerifiable(found.retryAfterSeconds);
    },
  };
}

const logDelayMs = 20;

function tooManyAttempts(retryAfterSeconds: number): AppError {
  return new AppError('RATE_LIMITED', 'Too many attempts with invalid credentials.', { retryAfterSeconds });
}

function notVerifiable(retryAfterSeconds: number): AppError {
  return new AppError('UNAVAILABLE', 'The credential cannot be verified now.', { retryAfterSeconds });
}

const headerOf: Record<CredentialKind, string> = { management: 'authorization', service: 'x-svc-authorization' };

/** Returns the token of `Bearer <token>`. Repeated headers are joined by commas, which do not match. */
function bearerToken(header: string): string | undefined {
  return /^bearer ([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

/** Whether the header has the prefix of a credential of ours, in any scheme or none. Others cannot be guesses. */
function isLikeOurs(header: string): boolean {
  return credentialKindOf(withoutScheme(header)) !== undefined;
}

function withoutScheme(header: string): string {
  return header.replace(/^[a-z]+[ \t]+/i, '');
}

/** Identifies repeated attempts with one credential: the prefix of a token and 30 of its 190 random bits. */
function attemptKeyOf(header: string): string {
  const token = withoutScheme(header);
  // All tokens of one issuer start alike; the ends of their signatures differ.
  return isJWTShaped(token) ? token.slice(-12) : token.slice(0, 12);
}
