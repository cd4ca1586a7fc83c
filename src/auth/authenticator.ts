import { timingSafeEqual } from 'node:crypto';
import type { Authenticate, Credential, CredentialKind, CredentialStore } from '../credential.js';
import { hashToken, isTokenShaped } from './token.js';

/**
 * Reads both credential headers. A header that is missing, malformed, repeated, unknown, expired, revoked or of the
 * other kind yields no credential, and nothing tells which of these it was.
 */
export function createAuthenticate(store: CredentialStore, now: () => Date): Authenticate {
  async function verify(kind: CredentialKind, token: string | undefined): Promise<Credential | undefined> {
    if (token === undefined || !isTokenShaped(token)) return undefined;
    const hash = hashToken(token);
    const found = await store.findBySecretHash(hash);
    if (found === undefined || !timingSafeEqual(found.secretHash, hash)) return undefined;
    const expired = found.expires !== undefined && found.expires <= now();
    return found.kind === kind && found.revoked === undefined && !expired ? found : undefined;
  }

  return async (headers) => {
    const management = await verify('management', bearerToken(headers.get('authorization')));
    const service = await verify('service', headers.get('x-svc-authorization') ?? undefined);
    return { ...(management && { management }), ...(service && { service }) };
  };
}

/** The token of `Bearer <token>`. A repeated header arrives joined by a comma and has no such form. */
function bearerToken(header: string | null): string | undefined {
  return /^bearer ([\w.~+/-]+=*)$/i.exec(header ?? '')?.[1];
}
