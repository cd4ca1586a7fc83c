import { randomBytes } from 'node:crypto';
import type { StoredCredential, CredentialKind, CredentialStore } from './credential.js';
import { AppError } from '../lib/errors.js';
import type { Scope } from '../keys/key.js';
import { checkOwner } from '../keys/key-id.js';
import { createToken, hashToken } from './token.js';

interface CredentialOptions {
  readonly kind: CredentialKind;
  readonly label: string;
  readonly orgID?: string | undefined;
  readonly expires?: Date | undefined;
  /** Permitted operations of a service credential; undefined for all. */
  readonly scopes?: readonly Scope[] | undefined;
}

interface IssuedCredential {
  readonly credential: StoredCredential;
  readonly secret: string;
}

/**
 * Issues a credential. Its secret is returned here only and is not stored.
 *
 * @throws {AppError} INVALID when the label is not well-formed Unicode or the organization is not valid.
 */
export async function issueCredential(
  store: CredentialStore,
  options: CredentialOptions,
  now: Date,
): Promise<IssuedCredential> {
  if (!options.label.isWellFormed()) throw new AppError('INVALID', 'The label must be well-formed Unicode.');
  if (options.orgID !== undefined) checkOwner(options.orgID);
  const issued = createCredential(options, now);
  await store.add(issued.credential);
  return issued;
}

/**
 * Rotates a credential: issues a successor of the same kind, label, organization, scopes and lifetime. The credential
 * itself expires after `overlapMs` milliseconds; 0 revokes it at once.
 *
 * @throws {AppError} NOT_FOUND, or CONFLICT when it is expired or revoked, or was rotated already.
 */
export async function rotateCredential(
  store: CredentialStore,
  id: string,
  overlapMs: number,
  now: Date,
): Promise<IssuedCredential & { readonly retired: StoredCredential }> {
  let secret = '';
  const { retired, successor } = await store.replace(id, (found) => {
    const current = requireRotatable(found, id, now);
    const lifetimeMs = current.expires && current.expires.getTime() - current.created.getTime();
    const expires = lifetimeMs === undefined ? undefined : new Date(now.getTime() + lifetimeMs);
    const { kind, label, orgID, scopes } = current;
    const issued = createCredential({ kind, label, orgID, scopes, expires }, now);
    secret = issued.secret;
    return {
      retired: { ...expireAfter(current, overlapMs, now), successorID: issued.credential.id },
      successor: issued.credential,
    };
  });
  return { credential: successor, secret, retired };
}

function requireRotatable(found: StoredCredential | undefined, id: string, now: Date): StoredCredential {
  if (found === undefined) throw new AppError('NOT_FOUND', `There is no credential ${id}.`);
  if (found.successorID !== undefined) {
    throw new AppError('CONFLICT', `${id} was rotated already; its successor is ${found.successorID}.`);
  }
  if (found.revoked !== undefined || (found.expires !== undefined && found.expires <= now)) {
    throw new AppError('CONFLICT', `${id} is expired or revoked; issue a new credential.`);
  }
  return found;
}

function expireAfter(credential: StoredCredential, overlapMs: number, now: Date): StoredCredential {
  if (overlapMs === 0) return { ...credential, revoked: now };
  const end = new Date(now.getTime() + overlapMs);
  return { ...credential, expires: credential.expires && credential.expires < end ? credential.expires : end };
}

function createCredential({ kind, label, orgID, expires, scopes }: CredentialOptions, now: Date): IssuedCredential {
  const secret = createToken(kind);
  const credential: StoredCredential = {
    id: `cred_${randomBytes(8).toString('hex')}`,
    kind,
    label,
    secretHash: hashToken(secret),
    lastFour: secret.slice(-4),
    orgID,
    scopes,
    created: now,
    expires,
    revoked: undefined,
    lastUsed: undefined,
    successorID: undefined,
  };
  return { credential, secret };
}
