import { randomBytes } from 'node:crypto';
import type { Credential, CredentialKind, CredentialStore } from './credential.js';
import { AppError } from '../lib/errors.js';
import { checkOwner } from '../keys/key-id.js';
import { createToken, hashToken } from './token.js';

interface CredentialOrder {
  readonly kind: CredentialKind;
  readonly label: string;
  readonly orgID?: string | undefined;
  readonly expires?: Date | undefined;
}

interface Issued {
  readonly credential: Credential;
  readonly secret: string;
}

/** Issues a credential. Its secret is in the answer and nowhere else. Throws INVALID for a text that storage would change. */
export async function issueCredential(store: CredentialStore, order: CredentialOrder, now: Date): Promise<Issued> {
  if (!order.label.isWellFormed()) throw new AppError('INVALID', 'A label holds half of a surrogate pair.');
  if (order.orgID !== undefined) checkOwner(order.orgID);
  const issued = make(order, now);
  await store.add(issued.credential);
  return issued;
}

/**
 * Issues a successor of the same kind, label and organisation, for as long as the credential was issued for. The
 * credential itself ends after the overlap, at once where that is 0. Throws NOT_FOUND, or CONFLICT where it opens
 * nothing any more or has a successor already.
 */
export async function rotateCredential(
  store: CredentialStore,
  id: string,
  overlapMs: number,
  now: Date,
): Promise<Issued & { readonly retired: Credential }> {
  let secret = '';
  const { retired, successor } = await store.replace(id, (found) => {
    const current = rotatable(found, id, now);
    const lifetimeMs = current.expires && current.expires.getTime() - current.created.getTime();
    const expires = lifetimeMs === undefined ? undefined : new Date(now.getTime() + lifetimeMs);
    const issued = make({ kind: current.kind, label: current.label, orgID: current.orgID, expires }, now);
    secret = issued.secret;
    return {
      retired: { ...endAfter(current, overlapMs, now), successorID: issued.credential.id },
      successor: issued.credential,
    };
  });
  return { credential: successor, secret, retired };
}

function rotatable(found: Credential | undefined, id: string, now: Date): Credential {
  if (found === undefined) throw new AppError('NOT_FOUND', `There is no credential ${id}.`);
  if (found.successorID !== undefined) {
    throw new AppError('CONFLICT', `${id} was rotated already; its successor is ${found.successorID}.`);
  }
  if (found.revoked !== undefined || (found.expires !== undefined && found.expires <= now)) {
    throw new AppError('CONFLICT', `${id} opens nothing any more; issue a new one.`);
  }
  return found;
}

function endAfter(credential: Credential, overlapMs: number, now: Date): Credential {
  if (overlapMs === 0) return { ...credential, revoked: now };
  const end = new Date(now.getTime() + overlapMs);
  return { ...credential, expires: credential.expires && credential.expires < end ? credential.expires : end };
}

function make({ kind, label, orgID, expires }: CredentialOrder, now: Date): Issued {
  const secret = createToken(kind);
  const credential: Credential = {
    id: `cred_${randomBytes(8).toString('hex')}`,
    kind,
    label,
    secretHash: hashToken(secret),
    lastFour: secret.slice(-4),
    orgID,
    created: now,
    expires,
    revoked: undefined,
    lastUsed: undefined,
    successorID: undefined,
  };
  return { credential, secret };
}
