import { decodeJwt, errors, jwtVerify } from 'jose';
import type { Identity } from '../credential.js';
import type { Logger } from '../log.js';
import type { OIDCSettings } from './oidc-settings.js';
import { createSigningKeys, KeysUnavailable } from './signing-keys.js';

/** Verifies a token of single sign-on. Never rejects; the reason is for the log. */
export type VerifyJWT = (token: string) => Promise<Identity | { readonly reason: string }>;

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
export function createSingleSignOn(settings: OIDCSettings, now: () => Date, log: Logger): VerifyJWT {
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
      if (orgClaim !== undefined && orgID === undefined) return { reason: 'organisation' };
      const label = subject.slice(0, longestSubject).toWellFormed();
      return { id: `oidc:${label}`, kind: 'management', label, orgID };
    } catch (error) {
      return { reason: reasonOf(error) };
    }
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim : undefined;
}

/** Codes and names of claims only: jose's messages could one day quote what was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `claim ${error.claim}`;
  if (error instanceof errors.JWKSTimeout || error instanceof KeysUnavailable) return 'keys unavailable';
  if (error instanceof errors.JOSEError) return error.code;
  return 'keys unavailable';
}
