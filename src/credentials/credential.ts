import { AppError } from '../lib/errors.js';
import type { Principal, Scope } from '../keys/key.js';

/** `management` credentials authorize previews, `service` credentials the keys of organizations. */
export const credentialKinds = ['management', 'service'] as const;
/** One of {@link credentialKinds}. */
export type CredentialKind = (typeof credentialKinds)[number];

/** Why a presented credential is not valid: in the log and as a label of metrics, never in a response. */
export const rejectionReasons = [
  'unknown',
  'other kind',
  'revoked',
  'expired',
  'malformed',
  'issuer',
  'subject',
  'organization',
  'claims',
  'scopes',
  'keys unavailable',
  'unusable key',
] as const;
/** One of {@link rejectionReasons}, or a claim or error code of jose, which are too many for a label of metrics. */
export type RejectionReason = (typeof rejectionReasons)[number] | `claim ${string}` | `ERR_${string}`;

/** The result of looking up a secret. */
export type FoundCredential = Pick<StoredCredential, 'id' | 'kind' | 'label' | 'orgID' | 'scopes'> & {
  readonly state: 'active' | 'revoked' | 'expired';
};

/** A stored credential. Only the hash of its secret is stored. */
export interface StoredCredential {
  readonly id: string;
  readonly kind: CredentialKind;
  readonly label: string;
  /** The only organization that the credential can access; undefined for all. */
  readonly orgID: string | undefined;
  /** Permitted operations of a service credential; undefined for all. */
  readonly scopes: readonly Scope[] | undefined;
  /** SHA-256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
  /** Last four characters of the secret, to identify credentials in a list. */
  readonly lastFour: string | undefined;
  readonly created: Date;
  readonly expires: Date | undefined;
  readonly revoked: Date | undefined;
  /** Accurate to the minute, and written up to a minute later. */
  readonly lastUsed: Date | undefined;
  /** The credential that replaces it after a rotation. */
  readonly successorID: string | undefined;
}

/** The states of a credential. */
export const credentialStates = {
  active: 'It is accepted.',
  replaced: 'It was rotated, and is accepted until it expires.',
  expired: 'Its time has passed.',
  revoked: 'It was revoked.',
} as const;

/** One of {@link credentialStates}. */
export type CredentialState = keyof typeof credentialStates;

/** Returns the state of a credential at the time `now`. */
export function stateOfCredential(
  { revoked, expires, successorID }: Pick<StoredCredential, 'revoked' | 'expires' | 'successorID'>,
  now: Date,
): CredentialState {
  if (revoked) return 'revoked';
  if (expires && expires <= now) return 'expired';
  return successorID === undefined ? 'active' : 'replaced';
}

/**
 * Returns why the principal of a credential is not trusted any more; undefined if it is. A rotated credential that has expired is as
 * trusted as its successor. Of somebody who has signed on, and of the command line, nothing can be known.
 *
 * @throws {AppError} INTERNAL when a credential fails its integrity check.
 */
export async function whyNotTrusted(
  store: Pick<CredentialStore, 'find'>,
  id: string,
  now: Date,
): Promise<'revoked' | 'expired' | undefined> {
  for (let found = await store.find(id); found; found = await store.find(found.successorID ?? '')) {
    const state = stateOfCredential(found, now);
    if (state === 'revoked') return state;
    if (state !== 'expired') return undefined;
    if (found.successorID === undefined) return state;
  }
  return undefined;
}

/** The store of credentials. */
export interface CredentialStore {
  /**
   * Looks up the SHA-256 of a secret. An unknown secret takes as long as a revoked or expired one.
   *
   * @throws {AppError} INTERNAL when the row fails its integrity check.
   */
  findBySecretHash(secretHash: Uint8Array, at: Date): Promise<FoundCredential | undefined>;
  /**
   * Returns the newest state of a credential; undefined if there never was one with this ID.
   *
   * @throws {AppError} INTERNAL when it is missing, was put back, or fails its integrity check.
   */
  find(id: string): Promise<StoredCredential | undefined>;
  /**
   * Adds a credential, unless there is one with its ID. Returns the stored one. `permit` is pure and synchronous; if it
   * throws, nothing is written.
   */
  add(credential: StoredCredential, permit?: (issued: IssuedCounts) => void): Promise<StoredCredential>;
  /** Returns all credentials, revoked and expired ones included. */
  list(): Promise<StoredCredential[]>;
  /** Returns a part of the list, in the order of their creation, revoked and expired ones included. */
  page(range: CredentialRange): Promise<StoredCredential[]>;
  /**
   * Returns false if there is no such credential. Revoking again keeps the first time. `permit` is pure and synchronous; if
   * it throws, nothing is written.
   */
  revoke(id: string, at: Date, permit?: (found: StoredCredential | undefined) => void): Promise<boolean>;
  /** Returns the ids of credentials that fail their integrity check. For these, other methods throw INTERNAL. */
  findDamaged(): Promise<string[]>;
  /**
   * Compares the credentials with their head.
   *
   * @throws {AppError} INTERNAL when the head fails its integrity check.
   */
  findRolledBack(): Promise<CredentialRollback[]>;
  /**
   * Reads the head again. While it throws, all credentials are rejected.
   *
   * @throws {AppError} INTERNAL when the head is damaged, missing, or older than it was.
   */
  verifyHead(): Promise<void>;
  /** Creates the head from the present credentials, if there is none. */
  beginHead(): Promise<void>;
  /**
   * Replaces a credential and adds its successor in one transaction. `change` and `permit` are pure and synchronous; if
   * one throws, nothing is written.
   */
  replace(
    id: string,
    change: (found: StoredCredential | undefined) => CredentialReplacement,
    permit?: (issued: IssuedCounts) => void,
  ): Promise<CredentialReplacement>;
  /** Stores when credentials were last used, by id. Earlier times than the stored ones are ignored. */
  markUsed(uses: ReadonlyMap<string, Date>): Promise<void>;
}

/** How many credentials an organization has, before another is added. Those of no organization count together. */
export interface IssuedCounts {
  /** Issued in the 24 hours before. */
  readonly recent: number;
  /** Neither revoked nor expired. */
  readonly active: number;
}

/** The position of a credential in the list. */
export type CredentialPosition = Pick<StoredCredential, 'id' | 'created'>;

/** A part of the list of credentials. */
export interface CredentialRange {
  /** Only credentials that are bound to this organization; undefined for all. */
  readonly orgID: string | undefined;
  readonly after: CredentialPosition | undefined;
  readonly limit: number;
}

/** A credential that is not in its newest state. */
export interface CredentialRollback {
  readonly id: string;
  /** Absent if the credential is missing. */
  readonly label?: string;
}

/** A credential that was revoked or will expire, and its successor. */
export interface CredentialReplacement {
  readonly retired: StoredCredential;
  readonly successor: StoredCredential;
}

/** The principals that a request has proved, at most one for each kind of credential. */
export type AuthContext = { readonly [K in CredentialKind]?: Principal } & {
  /** The credentials that were presented and not accepted. */
  readonly rejected?: { readonly [K in CredentialKind]?: RejectedCredential };
};

/** A credential that was presented and not accepted. */
export interface RejectedCredential {
  /**
   * Why it was not verified: RATE_LIMITED after too many failed attempts, UNAVAILABLE if the keys of the issuer cannot be
   * fetched. Absent for a credential that is not valid.
   */
  readonly error?: AppError;
  /** Logs the rejection, once. Called when an operation needs the credential; a failed attempt is logged in any case. */
  readonly report: () => void;
}

/** The parts of a request that authentication needs. */
export interface AuthRequest {
  readonly headers: { readonly get: (name: string) => string | null };
  readonly requestID: string;
  /** IP address of the client. Undefined for requests without a connection, which are not rate limited. */
  readonly clientAddress: string | undefined;
  /** The kinds of credentials to verify. Default: all. */
  readonly kinds?: readonly CredentialKind[] | undefined;
}

/**
 * Verifies the credentials in the headers of a request. An invalid credential yields no principal and no error. Each call
 * counts its failures, so that `RequestContext.principal` calls it once per request.
 *
 * @throws {AppError} when the store fails, such as UNAVAILABLE.
 */
export type Authenticate = (request: AuthRequest) => Promise<AuthContext>;

/** Verifies credentials, before a request and again during a long response. */
export interface Authenticator {
  readonly authenticate: Authenticate;
  /**
   * Verifies one credential of a request again, for a response that takes long. Does not count or log failures.
   *
   * @throws {AppError} UNAUTHENTICATED when the credential is not valid any more; UNAVAILABLE when it cannot be verified.
   */
  readonly revalidate: (kind: CredentialKind, headers: AuthRequest['headers']) => Promise<void>;
}

/**
 * Returns the principal for a kind of credential.
 *
 * @throws {AppError} UNAUTHENTICATED when there is none, with one message for every reason; RATE_LIMITED or UNAVAILABLE
 * when the credential was not verified.
 */
export function requirePrincipal(auth: AuthContext, kind: CredentialKind): Principal {
  const principal = auth[kind];
  if (principal !== undefined) return principal;
  const rejected = auth.rejected?.[kind];
  rejected?.report();
  throw rejected?.error ?? noCredential(kind);
}

const headerTexts: Record<CredentialKind, string> = {
  management: 'management credential is required (Authorization: Bearer)',
  service: 'service credential is required (X-Svc-Authorization)',
};

/**
 * Creates the UNAUTHENTICATED error of an operation. It names the required kind of credential, undefined for any, and is the
 * same for every reason: missing, unknown, expired, of the other kind.
 */
export function noCredential(kind?: CredentialKind): AppError {
  return new AppError('UNAUTHENTICATED', `A valid ${kind ? headerTexts[kind] : 'credential is required'}.`);
}

/** Whether a request has a valid credential of any kind. */
export function hasPrincipal({ management, service }: AuthContext): boolean {
  return management !== undefined || service !== undefined;
}

/**
 * Rejects a request without a valid credential of any kind.
 *
 * @throws {AppError} as `requirePrincipal`.
 */
export function requireAnyPrincipal(auth: AuthContext): void {
  throwIfRateLimited(auth);
  if (!hasPrincipal(auth)) throw noCredentialOfAnyKind(auth);
}

/** Creates the UNAUTHENTICATED error of a request that needs a credential of any kind, and logs those that it presented. */
export function noCredentialOfAnyKind({ rejected = {} }: AuthContext): AppError {
  for (const { report } of Object.values(rejected)) report();
  return noCredential();
}

/**
 * Rejects a request whose credentials were not verified.
 *
 * @throws {AppError} RATE_LIMITED or UNAVAILABLE when no credential is valid and one was not verified.
 */
export function throwIfRateLimited({ rejected = {}, management, service }: AuthContext): void {
  if (management || service) return;
  const unverified = Object.values(rejected).flatMap(({ error, report }) => (error ? [{ error, report }] : []));
  const seconds = ({ error }: { readonly error: AppError }) => error.retryAfterSeconds ?? 0;
  const [latest] = unverified.sort((a, b) => seconds(b) - seconds(a));
  if (latest === undefined) return;
  latest.report();
  throw latest.error;
}
