import { AppError } from '../lib/errors.js';

/** What a credential opens: `management` the preview, `service` the organisation keys. Neither opens the other's door. */
export const credentialKinds = ['management', 'service'] as const;
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
  'organisation',
  'keys unavailable',
] as const;
/** With the claims and error codes that jose names, which are too many for a label. */
export type RejectionReason = (typeof rejectionReasons)[number] | `claim ${string}` | `ERR_${string}`;

/** Who asks, as a verified credential says. */
export interface Identity {
  readonly id: string;
  readonly kind: CredentialKind;
  readonly label: string;
  /** The one organisation it is bound to; undefined for all. */
  readonly orgID: string | undefined;
}

/** Whose secret was presented, and whether it opens anything at that moment. */
export type FoundCredential = Identity & { readonly state: 'active' | 'revoked' | 'expired' };

/** A credential as it is kept. Its secret is not: only the secret's hash, by which it is found. */
export interface Credential extends Identity {
  /** SHA-256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
  /** The end of the secret, by which people tell one from another; undefined for those of earlier versions. */
  readonly lastFour: string | undefined;
  readonly created: Date;
  readonly expires: Date | undefined;
  readonly revoked: Date | undefined;
  /** To the minute, and written up to a minute later. */
  readonly lastUsed: Date | undefined;
  /** The credential that was issued to take its place. */
  readonly successorID: string | undefined;
}

/** Where credentials are kept. */
export interface CredentialStore {
  /** Whose secret it is. To find that it opens nothing takes as long as to find that there is none. */
  findBySecretHash(secretHash: Uint8Array, at: Date): Promise<FoundCredential | undefined>;
  add(credential: Credential): Promise<void>;
  list(): Promise<Credential[]>;
  /** False where there is no such credential. Revoking twice keeps the first moment. */
  revoke(id: string, at: Date): Promise<boolean>;
  /** The ids of credentials that are not as they were written; every other look at them rejects with INTERNAL. */
  findDamaged(): Promise<string[]>;
  /**
   * Reads a credential and writes what became of it and its successor, in one transaction. `change` is pure and
   * synchronous; what it throws undoes everything.
   */
  replace(id: string, change: (found: Credential | undefined) => CredentialReplacement): Promise<CredentialReplacement>;
  /** Remembers when credentials were used, by their identifiers. An earlier moment than the known one changes nothing. */
  markUsed(uses: ReadonlyMap<string, Date>): Promise<void>;
}

/** A credential whose end has been set, and the one that takes its place. */
export interface CredentialReplacement {
  readonly retired: Credential;
  readonly successor: Credential;
}

/** The credentials that a request proved to hold, at most one of each kind. */
export type AuthContext = { readonly [K in CredentialKind]?: Identity } & {
  /**
   * Why a presented credential was not verified: RATE_LIMITED after too many failed attempts, UNAVAILABLE while the keys
   * of the issuer cannot be had. Absent for one that is merely not valid.
   */
  readonly unverified?: { readonly [K in CredentialKind]?: AppError };
};

/** What authentication looks at. */
export interface AuthRequest {
  readonly headers: { readonly get: (name: string) => string | null };
  readonly requestID: string;
  /** Where the request comes from; undefined for one that came through no network, which is not limited. */
  readonly clientAddress: string | undefined;
}

/**
 * Reads and verifies the credentials in a request's headers. Never rejects for a bad one. Each call counts its failures:
 * `RequestContext.principal` calls it once per request.
 */
export type Authenticate = (asking: AuthRequest) => Promise<AuthContext>;

export interface Authenticator {
  readonly authenticate: Authenticate;
  /**
   * Verifies one credential of a request again, for a response that goes on for long. Counts no failed attempt and logs
   * none.
   *
   * @throws {AppError} UNAUTHENTICATED when the credential is not valid any more.
   */
  readonly revalidate: (kind: CredentialKind, headers: AuthRequest['headers']) => Promise<void>;
}

/**
 * The credential of the given kind.
 *
 * @throws {AppError} UNAUTHENTICATED when there is none, with one message for every reason; RATE_LIMITED or UNAVAILABLE
 * when it was not verified.
 */
export function requirePrincipal(holder: AuthContext, kind: CredentialKind): Identity {
  const credential = holder[kind];
  if (credential !== undefined) return credential;
  throw holder.unverified?.[kind] ?? noCredential();
}

/** The one error for a credential that is missing, malformed, unknown, expired, revoked or of the other kind. */
export function noCredential(): AppError {
  return new AppError('UNAUTHENTICATED', 'A valid credential is required.');
}

/** Throws as `demand` does for a request without any valid credential, of whatever kind. */
export function requireAnyPrincipal(holder: AuthContext): void {
  throwIfRateLimited(holder);
  if (!holder.management && !holder.service) requirePrincipal(holder, 'management');
}

/** Throws RATE_LIMITED or UNAVAILABLE for a request without a valid credential of which one was not verified. */
export function throwIfRateLimited({ unverified = {}, management, service }: AuthContext): void {
  if (management || service) return;
  const seconds = (error: AppError) => error.retryAfterSeconds ?? 0;
  const [latest] = Object.values(unverified).sort((a, b) => seconds(b) - seconds(a));
  if (latest !== undefined) throw latest;
}
