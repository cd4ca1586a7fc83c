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
import { hasSignedOn } from '../keys/actor.js';
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
  /** Whether it is a token of our issuer, or looks like one. */
  readonly isOwnToken?: boolean;
  /** Whether it is not an attempt to guess a credential: it is not one of ours, or it is genuine. */
  readonly isExcused?: boolean;
  /** Seconds until a retry, if the credential cannot be verified now. */
  readonly retryAfterSeconds?: number;
}

/**
 * Creates the authenticator of both credential headers. A credential that is missing, malformed, repeated, unknown,
 * expired, revoked or of the other kind yields no principal. Only the log contains the reason.
 *
 * A token of single sign-on may stand in either header. An operation looks at its own header; only if that is absent, at a token
 * in the other one.
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
    // Only `Authorization` may hold what is not for us.
    const isExcused = kind === 'management';
    if (isLikeOurs(presented)) return { reason: 'malformed' };
    if (token === undefined || !verifyJWT || !isJWTShaped(token)) return { reason: 'malformed', isExcused };
    const found = await verifyJWT(token);
    if (!('reason' in found)) return found;
    const { isForeign = false, ...rejection } = found;
    return isForeign ? { ...rejection, isExcused } : { ...rejection, isOwnToken: true };
  }

  /** What one header holds. */
  interface Presented {
    readonly principal?: Principal;
    readonly rejected?: RejectedCredential;
    /** Whether it is a token of single sign-on, which may stand in either header. */
    readonly isToken: boolean;
  }

  async function read(kind: CredentialKind, presented: string, request: AuthRequest): Promise<Presented> {
    const found = await verify(kind, presented);
    if (!('reason' in found)) return { principal: found, isToken: hasSignedOn(found) };
    const { isOwnToken = false, ...rejection } = found;
    return { isToken: isOwnToken, rejected: reject(kind, presented, rejection, request) };
  }

  /** Counts the rejection if it may be an attempt to guess, and logs it then, else when an operation needs the credential. */
  function reject(
    kind: CredentialKind,
    presented: string,
    { isExcused = false, retryAfterSeconds, ...rejection }: TokenRejection,
    { clientAddress, requestID }: AuthRequest,
  ): RejectedCredential {
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
    if (waitSeconds !== undefined) return { report, error: tooManyAttempts(waitSeconds) };
    return { report, ...(retryAfterSeconds !== undefined && { error: notVerifiable(retryAfterSeconds) }) };
  }

  async function authenticate(request: AuthRequest): Promise<AuthContext> {
    const { headers, kinds = credentialKinds } = request;
    const presented: Partial<Record<CredentialKind, Presented>> = {};
    for (const kind of kinds) {
      const value = headers.get(headerOf[kind]) ?? '';
      // A missing credential is not a failed attempt.
      if (value !== '') presented[kind] = await read(kind, value, request);
    }
    const principals: Partial<Record<CredentialKind, Principal>> = {};
    const rejected: Partial<Record<CredentialKind, RejectedCredential>> = {};
    for (const kind of kinds) {
      const { [otherKind[kind]]: other } = presented;
      const found = presented[kind] ?? (other?.isToken === true ? other : undefined);
      if (found?.rejected) rejected[kind] = found.rejected;
      else if (found?.principal === undefined) continue;
      else if (permits(kind, found.principal)) principals[kind] = found.principal;
      else rejected[kind] = reject(kind, '', { reason: 'scopes', isExcused: true }, request);
    }
    return { ...principals, ...(Object.keys(rejected).length > 0 && { rejected }) };
  }

  return {
    authenticate,
    close: uses.close,
    async revalidate(kind, headers) {
      const own = headers.get(headerOf[kind]) ?? '';
      const source = own === '' ? otherKind[kind] : kind;
      const found = await verify(source, headers.get(headerOf[source]) ?? '');
      if ('reason' in found) {
        throw found.retryAfterSeconds === undefined ? noCredential(kind) : notVerifiable(found.retryAfterSeconds);
      }
      if ((source !== kind && !hasSignedOn(found)) || !permits(kind, found)) throw noCredential(kind);
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

/** Whether a principal may use operations of this kind: a token without a scope is for previews alone. */
function permits(kind: CredentialKind, principal: Principal): boolean {
  return kind === 'management' || !hasSignedOn(principal) || principal.scopes?.length !== 0;
}

const otherKind: Record<CredentialKind, CredentialKind> = { management: 'service', service: 'management' };

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
