import { decodeJwt, errors, jwtVerify } from 'jose';
import type { Identity, RejectionReason } from './credential.js';
import { orgIDProblem } from '../keys/key-id.js';
import type { Logger } from '../lib/log.js';
import type { OIDCSettings } from './oidc-settings.js';
import { createSigningKeys, retryAfterMs } from './oidc-keys.js';

/** Why a token is not valid, for the log. Excused when it is no guess: genuine and expired, or not verifiable now. */
interface JWTRejection {
  readonly reason: RejectionReason;
  readonly isExcused?: boolean;
  /** After how many seconds it can be verified, when that is not possible now. */
  readonly retryAfterSeconds?: number;
}

/** Verifies a token of single sign-on. Never rejects. */
export type VerifyJWT = (token: string) => Promise<Identity | JWTRejection>;

/** Signatures that only the issuer can make. With a shared secret, whoever verifies could sign as well. */
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
const mostCharacters = 4096;
const longestSubject = 128;

/** Whether a bearer's token looks like a JWT. Says nothing about whether it opens anything. */
export function isJWTShaped(token: string): boolean {
  return token.length <= mostCharacters && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

/** Takes the tokens of one issuer for management credentials, with the subject for a label. */
export function createOIDCVerifier(settings: OIDCSettings, now: () => Date, log: Logger): VerifyJWT {
  const { issuer, audience, orgClaim } = settings;
  const findKey = createSigningKeys(settings, now, log);

  return async (token) => {
    try {
      // A token of some other issuer, which a gateway may pass on to all behind it, costs no look at the keys.
      if (decodeJwt(token).iss !== issuer) return { reason: 'issuer' };
      const { payload } = await jwtVerify(token, findKey, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      const subject = textOf(payload['sub']);
      if (subject === undefined) return { reason: 'subject' };
      const orgID = orgClaim === undefined ? undefined : textOf(payload[orgClaim]);
      if (orgClaim !== undefined && (orgID === undefined || orgIDProblem(orgID) !== undefined)) {
        return { reason: 'organisation' };
      }
      const label = subject.slice(0, longestSubject).toWellFormed();
      return { id: `oidc:${label}`, kind: 'management', label, orgID };
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim : undefined;
}

/** Codes and names of claims only: jose's messages could one day quote what was sent. */
function refusalOf(error: unknown): JWTRejection {
  // The signature is looked at before the time, so that the issuer did write what has expired.
  if (error instanceof errors.JWTExpired) return { reason: 'expired', isExcused: true };
  if (error instanceof errors.JWTClaimValidationFailed) return { reason: `claim ${error.claim}` };
  const isOurs = !(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout;
  if (!isOurs) return { reason: `ERR_${error.code.replace(/^ERR_/, '')}` };
  return { reason: 'keys unavailable', isExcused: true, retryAfterSeconds: retryAfterMs / 1000 };
}
