import { decodeJwt, errors, jwtVerify } from 'jose';
import type { RejectionReason } from './credential.js';
import type { Principal } from '../keys/key.js';
import { orgIDProblem } from '../keys/key-id.js';
import type { Logger } from '../lib/log.js';
import { isStorableText } from '../lib/text.js';
import type { OIDCSettings } from './oidc-settings.js';
import { createSigningKeys, KeysUnavailable, retryAfterMs } from './oidc-keys.js';

/** Why a token is not valid. */
interface JWTRejection {
  readonly reason: RejectionReason;
  /** Whether this is no failed attempt: the token is of another issuer, is genuine, or cannot be verified now. */
  readonly isExcused?: boolean;
  /** Seconds until verification can be retried, if it is not possible now. */
  readonly retryAfterSeconds?: number;
}

/** Verifies a token of single sign-on. Returns the reason for an invalid token, and never throws. */
export type VerifyJWT = (token: string) => Promise<Principal | JWTRejection>;

/** Asymmetric signatures only: with a shared secret, each verifier could also sign. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const clockToleranceSeconds = 60;
const maxTokenCharacters = 4096;
/** The maximum of OpenID Connect Core, section 2. A longer one is rejected, because a shortened one is not unique. */
const maxSubjectCharacters = 255;

/** Whether a bearer token has the form of a JWT. Does not verify it. */
export function isJWTShaped(token: string): boolean {
  return token.length <= maxTokenCharacters && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

/** Creates a verifier that accepts tokens of one issuer as management credentials, labelled by their subject. */
export function createOIDCVerifier(settings: OIDCSettings, now: () => Date, log: Logger): VerifyJWT {
  const { issuer, audience, orgClaim } = settings;
  const findKey = createSigningKeys(settings, now, log);

  return async (token) => {
    try {
      // Routers forward tokens of other issuers, which cause no request for keys.
      if (issuerOf(token) !== issuer) return { reason: 'issuer', isExcused: true };
      const { payload } = await jwtVerify(token, findKey, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      const subject = textOf(payload['sub']);
      if (subject === undefined || subject.length > maxSubjectCharacters || !isStorableText(subject)) {
        return { reason: 'subject', isExcused: true };
      }
      const orgID = orgClaim === undefined ? undefined : textOf(payload[orgClaim]);
      if (orgClaim !== undefined && (orgID === undefined || orgIDProblem(orgID) !== undefined)) {
        return { reason: 'organization', isExcused: true };
      }
      return { credentialID: `oidc:${subject}`, label: subject, orgID };
    } catch (error) {
      return rejectionOf(error);
    }
  };
}

/** The issuer that the token names, not verified; undefined if the token cannot be read. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim : undefined;
}

/** Returns error codes and names of claims only, because messages of jose could quote the token. */
function rejectionOf(error: unknown): JWTRejection {
  // jose verifies the signature before the claims: the token is genuine, such as one for the audience of the router.
  if (error instanceof errors.JWTExpired) return { reason: 'expired', isExcused: true };
  if (error instanceof errors.JWTClaimValidationFailed) return { reason: `claim ${error.claim}`, isExcused: true };
  if (error instanceof KeysUnavailable) {
    return { reason: 'keys unavailable', isExcused: true, retryAfterSeconds: retryAfterMs / 1000 };
  }
  if (error instanceof errors.JOSEError) return { reason: `ERR_${error.code.replace(/^ERR_/, '')}` };
  // jose and Web Crypto throw a TypeError or DOMException for a published key that is too short or malformed.
  return { reason: 'unusable key' };
}
