import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { CredentialKind } from './credential.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes: Record<CredentialKind, string> = { management: 'kf_mgt_', service: 'kf_svc_' };

/** Form of a credential's secret: a prefix for secret scanners, 190 random bits, and a checksum against typing errors. */
export const tokenPattern = /^kf_(mgt|svc)_[0-9A-Za-z]{38}$/;

/** Creates a random secret of the form `kf_mgt_…` or `kf_svc_…`. */
export function createToken(kind: CredentialKind): string {
  let random = '';
  while (random.length < 32) {
    // Bytes of 248 or more are discarded, so that all 62 characters are equally likely.
    for (const byte of randomBytes(48)) {
      if (byte < 248 && random.length < 32) random += alphabet.charAt(byte % 62);
    }
  }
  const body = prefixes[kind] + random;
  return body + checksum(body);
}

/** Whether a text has the form of a credential's secret, including its checksum. */
export function isTokenShaped(text: string): boolean {
  return tokenPattern.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);
}

/** Returns the kind that the prefix of a credential names; undefined if there is none, as in a token of single sign-on. */
export function credentialKindOf(text: string): CredentialKind | undefined {
  if (text.startsWith(prefixes.management)) return 'management';
  return text.startsWith(prefixes.service) ? 'service' : undefined;
}

/** Returns the SHA-256 of the secret. A fast hash is sufficient for 190 random bits. */
export function hashToken(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let position = 0; position < 6; position += 1) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
