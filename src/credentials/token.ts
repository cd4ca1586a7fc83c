import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { CredentialKind } from './credential.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes: Record<CredentialKind, string> = { management: 'kf_mgt_', service: 'kf_svc_' };

/** What a credential's secret looks like: a prefix for scanners, 190 random bits, a checksum against typing errors. */
export const tokenPattern = /^kf_(mgt|svc)_[0-9A-Za-z]{38}$/;

/** A fresh secret for a credential, of the form `kf_mgt_…` or `kf_svc_…`. */
export function createToken(kind: CredentialKind): string {
  let random = '';
  while (random.length < 32) {
    // Bytes from 248 up are dropped, so that each of the 62 characters is as likely as any other.
    for (const byte of randomBytes(48)) {
      if (byte < 248 && random.length < 32) random += alphabet.charAt(byte % 62);
    }
  }
  const body = prefixes[kind] + random;
  return body + checksum(body);
}

/** Whether a text can be a credential's secret at all. Says nothing about whether it opens anything. */
export function isTokenShaped(text: string): boolean {
  return tokenPattern.test(text) && checksum(text.slice(0, -6)) === text.slice(-6);
}

/** SHA-256 of the secret: a fast hash is right for 190 random bits. */
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
