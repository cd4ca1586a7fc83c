import { AppError } from './errors.js';

/** What a credential opens: `management` the preview, `service` the organisation keys. Neither opens the other's door. */
export const credentialKinds = ['management', 'service'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** A credential as it is kept. Its secret is not: only the secret's hash, by which it is found. */
export interface Credential {
  readonly id: string;
  readonly kind: CredentialKind;
  readonly label: string;
  /** SHA-256 of the secret, 32 bytes. */
  readonly secretHash: Uint8Array;
  /** The one organisation it is bound to; undefined for all. */
  readonly orgID: string | undefined;
  readonly created: Date;
  readonly expires: Date | undefined;
  readonly revoked: Date | undefined;
}

/** Where credentials are kept. */
export interface CredentialStore {
  findBySecretHash(secretHash: Uint8Array): Promise<Credential | undefined>;
  add(credential: Credential): Promise<void>;
  list(): Promise<Credential[]>;
  /** False where there is no such credential. Revoking twice keeps the first moment. */
  revoke(id: string, at: Date): Promise<boolean>;
}

/** The credentials that a request proved to hold, at most one of each kind. */
export type Holder = { readonly [K in CredentialKind]?: Credential };

/** Reads and verifies the credentials in a request's headers. Never rejects for a bad one. */
export type Authenticate = (headers: Headers) => Promise<Holder>;

/** The credential of the given kind. Throws UNAUTHENTICATED, with one message whatever the reason, where there is none. */
export function demand(holder: Holder, kind: CredentialKind): Credential {
  const credential = holder[kind];
  if (credential === undefined) throw new AppError('UNAUTHENTICATED', 'A valid credential is required.');
  return credential;
}
