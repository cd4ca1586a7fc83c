import {
  credentialKinds,
  noCredential,
  type AuthRequest,
  type CredentialKind,
  type CredentialStore,
  type Authenticator,
  type AuthContext,
  type Identity,
  type RejectionReason,
} from './credential.js';
import { AppError } from '../lib/errors.js';
import type { Logger } from '../lib/log.js';
import type { Meter } from '../telemetry/ports.js';
import type { AttemptLimiter } from './attempt-limiter.js';
import { isJWTShaped, type VerifyJWT } from './oidc.js';
import { hashToken, isTokenShaped } from './token.js';
import type { LastUsedRecorder } from './last-used.js';

interface AuthenticatorDeps {
  readonly store: CredentialStore;
  readonly uses: Pick<LastUsedRecorder, 'note'>;
  readonly failures: AttemptLimiter;
  /** Undefined where single sign-on is not set up. */
  readonly verifyJWT: VerifyJWT | undefined;
  readonly now: () => Date;
  readonly log: Logger;
  readonly meter?: Meter | undefined;
}

/** Why a credential opens nothing: for the log alone. */
interface TokenRejection {
  readonly reason: RejectionReason;
  readonly credentialID?: string;
  /** Whether it is no guess, and does not count as a failed attempt. */
  readonly isExcused?: boolean;
  /** After how many seconds it can be verified, when that is not possible now. */
  readonly retryAfterSeconds?: number;
}

/**
 * Reads both credential headers. A header that is missing, malformed, repeated, unknown, expired, revoked or of the
 * other kind yields no credential, and nothing but the log tells which of these it was.
 */
export function createAuthenticator({
  store,
  uses,
  failures,
  verifyJWT,
  now,
  log,
  meter,
}: AuthenticatorDeps): Authenticator {
  async function verifyToken(kind: CredentialKind, token: string): Promise<Identity | TokenRejection> {
    const found = await store.findBySecretHash(hashToken(token), now());
    if (found === undefined) return { reason: 'unknown' };
    const { id, label, orgID, state } = found;
    if (found.kind !== kind) return { reason: 'other kind', credentialID: id };
    if (state !== 'active') return { reason: state, credentialID: id };
    uses.note(id, now());
    return { id, kind, label, orgID };
  }

  async function verify(kind: CredentialKind, presented: string): Promise<Identity | TokenRejection> {
    const token = kind === 'management' ? bearerToken(presented) : presented;
    if (token !== undefined && isTokenShaped(token)) return verifyToken(kind, token);
    if (kind === 'management' && token !== undefined && verifyJWT && isJWTShaped(token)) return verifyJWT(token);
    return { reason: 'malformed' };
  }

  async function authenticate({ headers, requestID, clientAddress }: AuthRequest): Promise<AuthContext> {
    const identities: Partial<Record<CredentialKind, Identity>> = {};
    const unverified: Partial<Record<CredentialKind, AppError>> = {};
    for (const kind of credentialKinds) {
      const presented = headers.get(headerOf[kind]) ?? '';
      // A request that holds nothing guesses nothing.
      if (presented === '') continue;
      const found = await verify(kind, presented);
      if (!('reason' in found)) {
        identities[kind] = found;
        continue;
      }
      const { isExcused = false, retryAfterSeconds, ...why } = found;
      const wait =
        isExcused || clientAddress === undefined ? undefined : failures.count(clientAddress, markOf(presented));
      if (wait !== undefined) unverified[kind] = tooManyAttempts(wait);
      if (retryAfterSeconds !== undefined) unverified[kind] = notVerifiable(retryAfterSeconds);
      const level = wait === undefined ? 'info' : 'debug';
      // Well after the answer: a line that says more takes longer, and how long the answer took tells nothing then.
      setTimeout(() => {
        meter?.authenticationFailed(kind, why.reason);
        log[level]({ event: 'authentication', verdict: 'refused', kind, ...why, clientAddress, requestID }, 'refused');
      }, tellAfterMs);
    }
    return { ...identities, ...(Object.keys(unverified).length > 0 && { unverified }) };
  }

  return {
    authenticate,
    async revalidate(kind, headers) {
      const found = await verify(kind, headers.get(headerOf[kind]) ?? '');
      if (!('reason' in found)) return;
      throw found.retryAfterSeconds === undefined ? noCredential() : notVerifiable(found.retryAfterSeconds);
    },
  };
}

const tellAfterMs = 20;

function tooManyAttempts(retryAfterSeconds: number): AppError {
  return new AppError('RATE_LIMITED', 'Too many attempts with credentials that are not valid.', { retryAfterSeconds });
}

function notVerifiable(retryAfterSeconds: number): AppError {
  return new AppError('UNAVAILABLE', 'The credential cannot be verified now.', { retryAfterSeconds });
}

const headerOf: Record<CredentialKind, string> = { management: 'authorization', service: 'x-svc-authorization' };

/** The token of `Bearer <token>`. A repeated header arrives joined by a comma and has no such form. */
function bearerToken(header: string): string | undefined {
  return /^bearer ([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

/** By which attempts at one credential are known: as much of ours as its prefix and 30 of its 190 random bits. */
function markOf(header: string): string {
  const token = header.replace(/^[a-z]+ +/i, '');
  // All of an issuer's tokens begin alike, and no two signatures end so.
  return isJWTShaped(token) ? token.slice(-12) : token.slice(0, 12);
}
