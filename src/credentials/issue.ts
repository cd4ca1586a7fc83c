import { randomBytes } from 'node:crypto';
import type { StoredCredential, CredentialKind, CredentialStore, IssuedCounts } from './credential.js';
import { AppError, invalidArgument } from '../lib/errors.js';
import { scopes as allScopes, type Scope } from '../keys/key.js';
import { checkOwner } from '../keys/key-id.js';
import { isStorableText, printable } from '../lib/text.js';
import { createToken, hashToken } from './token.js';

/** What a credential is issued for. */
export interface CredentialOptions {
  readonly kind: CredentialKind;
  readonly label: string;
  readonly orgID?: string | undefined;
  readonly expires?: Date | undefined;
  /** Permitted operations of a service credential; undefined for all. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** A credential with its secret. */
export interface IssuedCredential {
  readonly credential: StoredCredential;
  readonly secret: string;
}

/** The maximum length of a label, in characters. */
export const maxLabelCharacters = 200;

/** Throws if no further credential may be issued. */
type PermitIssue = (issued: IssuedCounts) => void;

/**
 * Issues a credential. Its secret is returned here only and is not stored.
 *
 * @throws {AppError} INVALID when the label, the organization or the scopes are not valid; what `permit` throws.
 */
export async function issueCredential(
  store: CredentialStore,
  options: CredentialOptions,
  now: Date,
  { permit, id }: { readonly permit?: PermitIssue; readonly id?: string } = {},
): Promise<IssuedCredential & { readonly isNew: boolean }> {
  checkOptions(options);
  const { credential, secret } = createCredential(options, now, id);
  const stored = await store.add(credential, permit);
  return { credential: stored, secret, isNew: stored === credential };
}

function checkOptions({ kind, label, orgID, scopes }: CredentialOptions): void {
  if (label.trim() === '' || label.length > maxLabelCharacters || !isStorableText(label)) {
    throw invalidArgument('label', `must be well-formed Unicode of 1 to ${maxLabelCharacters} characters`);
  }
  if (orgID !== undefined) checkOwner(orgID);
  if (scopes !== undefined && kind !== 'service')
    throw invalidArgument('scopes', 'must be omitted: for service credentials only');
}

/** Checks of a rotation, in its transaction. They throw if the rotation is not permitted. */
interface RotationChecks {
  readonly authorize?: (found: StoredCredential | undefined) => void;
  readonly permit?: PermitIssue;
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
  { authorize, permit }: RotationChecks = {},
): Promise<IssuedCredential & { readonly retired: StoredCredential }> {
  let secret = '';
  const change = (found: StoredCredential | undefined) => {
    authorize?.(found);
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
  };
  const { retired, successor } = await store.replace(id, change, permit);
  return { credential: successor, secret, retired };
}

/** The error for an ID that no credential has. */
export function credentialNotFound(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no credential ${printable(id.slice(0, 100))}.`);
}

function requireRotatable(found: StoredCredential | undefined, id: string, now: Date): StoredCredential {
  if (found === undefined) throw credentialNotFound(id);
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

function createCredential(
  { kind, label, orgID, expires, scopes }: CredentialOptions,
  now: Date,
  id = `cred_${randomBytes(8).toString('hex')}`,
): IssuedCredential {
  const secret = createToken(kind);
  const credential: StoredCredential = {
    id,
    kind,
    label,
    secretHash: hashToken(secret),
    lastFour: secret.slice(-4),
    orgID,
    // In one order, because a row is signed with its text and read in this order.
    scopes: scopes && (Object.keys(allScopes) as Scope[]).filter((scope) => scopes.includes(scope)),
    created: now,
    expires,
    revoked: undefined,
    lastUsed: undefined,
    successorID: undefined,
  };
  return { credential, secret };
}
