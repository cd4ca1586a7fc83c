import { randomBytes } from 'node:crypto';
import type { Credential, CredentialKind, CredentialStore } from '../credential.js';
import { createToken, hashToken } from './token.js';

interface Order {
  readonly kind: CredentialKind;
  readonly label: string;
  readonly orgID?: string | undefined;
  readonly expires?: Date | undefined;
}

/** Issues a credential. Its secret is in the answer and nowhere else. */
export async function issueCredential(
  store: CredentialStore,
  { kind, label, orgID, expires }: Order,
  now: Date,
): Promise<{ credential: Credential; secret: string }> {
  const secret = createToken(kind);
  const credential: Credential = {
    id: `cred_${randomBytes(8).toString('hex')}`,
    kind,
    label,
    secretHash: hashToken(secret),
    orgID,
    created: now,
    expires,
    revoked: undefined,
  };
  await store.add(credential);
  return { credential, secret };
}
