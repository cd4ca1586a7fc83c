import { decodeJwt, errors, jwtVerify } from 'jose';
import type { RejectionReason } from './credential.js';
import type { Principal } from '../keys/key.js';
import { tokenCredentialID } from '../keys/actor.js';
import { parseJSON } from '../lib/json.js';
import type { Logger } from '../lib/log.js';
import { isStorableText } from '../lib/text.js';
import { createSigningKeys, KeysUnavailable, retryAfterMs } from './oidc-keys.js';
import { clientOf, displayNameOf, rightsOf, type Claims } from './oidc-mapping.js';
import type { OIDCSettings } from './oidc-settings.js';

/** Why a token is not valid. */
interface JWTRejection {
  readonly reason: RejectionReason;
  /** Whether the token is of another issuer, whatever it is for. */
  readonly isForeign?: boolean;
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
/** Tokens with many groups have about 10,000 characters. All headers of a request together have at most 16 KiB. */
const maxTokenCharacters = 12_288;
/** The maximum of OpenID Connect Core, section 2. A longer one is rejected, because a shortened one is not unique. */
const maxSubjectCharacters = 255;

/** Whether a bearer token has the form of a JWT. Does not verify it. */
export function isJWTShaped(token: string): boolean {
  return token.length <= maxTokenCharacters && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}

/**
 * Creates a verifier of the tokens of one issuer. Their principals are identified by the subject and labelled by the name of
 * the person, and have the rights that the mapping gives them.
 */
export function createOIDCVerifier(settings: OIDCSettings, now: () => Date, log: Logger): VerifyJWT {
  const { issuer, audience, mapping } = settings;
  const findKey = createSigningKeys(settings, now, log);

  return async (token) => {
    try {
      // Routers forward tokens of other issuers, which cause no request for keys.
      if (issuerOf(token) !== issuer) return { reason: 'issuer', isForeign: true, isExcused: true };
      await jwtVerify(token, findKey, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      const claims = claimsOf(token);
      if (claims === undefined) return { reason: 'malformed', isExcused: true };
      const subject = textOf(claims['sub']);
      if (subject === undefined || subject.length > maxSubjectCharacters || !isStorableText(subject)) {
        return { reason: 'subject', isExcused: true };
      }
      const rights = rightsOf(claims, mapping);
      if (typeof rights === 'string') return { reason: rights, isExcused: true };
      const label = displayNameOf(claims, subject, mapping);
      return { credentialID: tokenCredentialID(subject), label, client: clientOf(claims), ...rights };
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

/**
 * The claims of a verified token, read so that no escaped member name becomes another one (nodejs/node#63785). Undefined if a
 * claim is repeated.
 */
function claimsOf(token: string): Claims | undefined {
  const [, payload = ''] = token.split('.');
  try {
    return parseJSON(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
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
