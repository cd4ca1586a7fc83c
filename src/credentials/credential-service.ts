import { canSee, hasScope, isForeign, otherOrganization, requireScope } from '../keys/authorization.js';
import { withAudit } from '../keys/change.js';
import type { Principal, Scope } from '../keys/key.js';
import type { AcceptedAttempt, AuditLog, CallContext } from '../keys/ports.js';
import { AppError, invalidArgument } from '../lib/errors.js';
import { overlapMsOf } from '../lib/overlap.js';
import { createdID } from '../wire/created-id.js';
import type { CredentialKind, CredentialRange, CredentialStore, IssuedCounts, StoredCredential } from './credential.js';
import { credentialNotFound, issueCredential, rotateCredential, type CredentialOptions } from './issue.js';

/** The credentials that administrators of one organization may have, and issue in 24 hours, rotations included. */
export const credentialLimits = { active: 500, recent: 500 } as const;

/** A credential to issue. */
export interface IssueRequest extends CredentialOptions {
  readonly idempotencyKey?: string | undefined;
}

/** A rotation of a credential. */
export interface RotateRequest {
  readonly id: string;
  /** How long the credential stays valid, in hours; 0 revokes it at once. */
  readonly overlapHours: number;
}

/** The result of an issue or a rotation. */
export interface IssueResult {
  readonly credential: StoredCredential;
  /** Undefined if the request was repeated: it is shown once. */
  readonly secret: string | undefined;
  /** The credential that was replaced. */
  readonly retired?: StoredCredential;
}

interface CredentialServiceDeps {
  readonly store: CredentialStore;
  readonly now: () => Date;
  readonly audit?: AuditLog | undefined;
}

/** The credentials as administrators see and change them. */
export type CredentialService = ReturnType<typeof createCredentialService>;

/**
 * Creates the operations of administrators. Each throws FORBIDDEN when the caller does not have the scope `admin`. A caller
 * that is bound to an organization sees and changes only the credentials of that organization; others look missing.
 */
export function createCredentialService({ store, now, audit }: CredentialServiceDeps) {
  const permitFor = (orgID: string | undefined) => (issued: IssuedCounts) => {
    requireRoom(orgID, issued);
  };

  return {
    /** The time by which the state of a credential is determined. */
    now,

    /** Returns credentials in the order of their creation, revoked and expired ones included. */
    async list(caller: CallContext, range: CredentialRange): Promise<readonly StoredCredential[]> {
      requireScope(caller, 'admin');
      if (isForeign(caller, range.orgID)) return [];
      return store.page({ ...range, orgID: range.orgID ?? caller.orgID });
    },

    /**
     * Issues a credential with rights that the caller has itself. A repeated request with an idempotency key returns the
     * credential without its secret, which is not stored.
     *
     * @throws {AppError} FORBIDDEN for another organization or for more rights than those of the caller; INVALID; CONFLICT
     * when the organization has too many credentials.
     */
    issue: withAudit(audit, {
      operation: 'issueKeyCredential',
      identify: (_: IssueRequest) => undefined,
      async run(caller, _, { idempotencyKey, ...request }): Promise<IssueResult> {
        requireScope(caller, 'admin');
        const options = { ...request, orgID: request.orgID ?? caller.orgID };
        if (isForeign(caller, options.orgID)) throw otherOrganization();
        requireRights(caller, options);
        const at = now();
        if (options.scopes?.length === 0) throw invalidArgument('scopes', 'must have at least one scope');
        if (options.expires !== undefined && options.expires <= at)
          throw invalidArgument('expiresAt', 'must be in the future');
        caller.deadline?.throwIfExpired();
        const id = createdID('cred_', caller, idempotencyKey);
        const permit = (issued: IssuedCounts) => {
          permitFor(options.orgID)(issued);
          caller.deadline?.markCommitting();
        };
        const issued = await issueCredential(store, options, at, { permit, ...(id !== undefined && { id }) });
        const { credential, secret, isNew } = issued;
        if (!isNew) requireSameRequest(credential, options);
        return { credential, secret: isNew ? secret : undefined };
      },
      acceptedOf: ({ credential, secret }) => ({ ...acceptedOf(credential), isChanged: secret !== undefined }),
    }),

    /**
     * Replaces a credential by one with the same rights, which the caller must have itself.
     *
     * @throws {AppError} NOT_FOUND; FORBIDDEN when it has more rights than the caller; INVALID; CONFLICT when it is expired,
     * revoked or replaced, or the organization has too many credentials.
     */
    rotate: withAudit(audit, {
      operation: 'rotateKeyCredential',
      identify: (_: RotateRequest) => undefined,
      targetOf: ({ id }) => ({ credentialID: id }),
      async run(caller, _, { id, overlapHours }): Promise<IssueResult> {
        requireScope(caller, 'admin');
        const overlapMs = overlapMsOf(overlapHours);
        caller.deadline?.throwIfExpired();
        let orgID: string | undefined;
        return rotateCredential(store, id, overlapMs, now(), {
          authorize: (found) => {
            const credential = requireVisible(caller, id, found);
            requireRights(caller, credential);
            ({ orgID } = credential);
          },
          permit: (issued) => {
            permitFor(orgID)(issued);
            caller.deadline?.markCommitting();
          },
        });
      },
      acceptedOf: ({ credential, retired }) => ({
        ...acceptedOf(credential),
        credential: {
          ...textsOf(credential),
          replaces: retired?.id,
          overlapUntil: (retired?.revoked ?? retired?.expires)?.toISOString(),
        },
      }),
    }),

    /**
     * Revokes a credential, also the caller's own. One that is revoked already stays as it is.
     *
     * @throws {AppError} NOT_FOUND
     */
    revoke: withAudit(audit, {
      operation: 'revokeKeyCredential',
      identify: (_: { readonly id: string }) => undefined,
      targetOf: ({ id }) => ({ credentialID: id }),
      async run(caller, _, { id }): Promise<{ readonly credential: StoredCredential; readonly isChanged: boolean }> {
        requireScope(caller, 'admin');
        caller.deadline?.throwIfExpired();
        const at = now();
        let before: StoredCredential | undefined;
        await store.revoke(id, at, (found) => {
          before = requireVisible(caller, id, found);
          caller.deadline?.markCommitting();
        });
        if (before === undefined) throw credentialNotFound(id);
        return { credential: { ...before, revoked: before.revoked ?? at }, isChanged: before.revoked === undefined };
      },
      acceptedOf: ({ credential, isChanged }) => ({ ...acceptedOf(credential), isChanged }),
    }),
  };
}

function requireVisible(caller: Principal, id: string, found: StoredCredential | undefined): StoredCredential {
  if (found && canSee(caller, found.orgID)) return found;
  throw credentialNotFound(id);
}

interface Rights {
  readonly kind: CredentialKind;
  readonly scopes?: readonly Scope[] | undefined;
}

/** @throws {AppError} FORBIDDEN when a credential with these rights could do what the caller cannot. */
function requireRights(caller: Principal, { kind, scopes }: Rights): void {
  if (kind === 'management') return;
  if (scopes === undefined) {
    if (caller.scopes === undefined) return;
    throw new AppError(
      'FORBIDDEN',
      'The credential is restricted to scopes: it can only issue and rotate those with `scopes`.',
    );
  }
  const missing = scopes.find((scope) => !hasScope(caller, scope));
  if (missing === undefined) return;
  throw new AppError(
    'FORBIDDEN',
    `The credential does not have the scope \`${missing}\`, and cannot give it to another.`,
  );
}

function requireRoom(orgID: string | undefined, { active, recent }: IssuedCounts): void {
  const owner = orgID === undefined ? 'There are' : 'The organization has';
  const of = orgID === undefined ? ' of all organizations' : '';
  if (active >= credentialLimits.active) {
    throw new AppError(
      'CONFLICT',
      `${owner} ${active} active credentials${of}, the maximum: revoke those that are not used.`,
    );
  }
  if (recent >= credentialLimits.recent) {
    throw new AppError('CONFLICT', `${owner} ${recent} credentials${of} of the last 24 hours, the maximum.`);
  }
}

function requireSameRequest(found: StoredCredential, { kind, label, orgID, scopes, expires }: CredentialOptions): void {
  const { successorID } = found;
  // A rotation has changed the expiry.
  const hasSameExpiry = successorID !== undefined || found.expires?.getTime() === expires?.getTime();
  const isSame =
    found.kind === kind && found.label === label && found.orgID === orgID && namesOf(found.scopes) === namesOf(scopes);
  if (isSame && hasSameExpiry) return;
  throw invalidArgument('idempotencyKey', 'was used for another request');
}

const namesOf = (scopes: readonly Scope[] | undefined) => scopes?.toSorted().join(',');

function acceptedOf(credential: StoredCredential): AcceptedAttempt {
  const { orgID } = credential;
  return { ...(orgID !== undefined && { orgID }), credential: textsOf(credential) };
}

/** What the audit log has of a credential. */
function textsOf({ id, kind, label, scopes, expires }: StoredCredential) {
  return { id, kind, label, scopes: scopes?.join(',') ?? '(all)', expires: expires?.toISOString() };
}
