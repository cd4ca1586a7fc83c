import type { Definition } from './definition/normalize.js';

/**
 * The live side of a quota: traffic changes it, updates of the definition do not. Where counters stand apart from their
 * keys, a stored one is what a counter was when its key was last changed, and what one is begun from.
 */
export interface QuotaState {
  /** Requests counted in the current period. */
  readonly used: bigint;
  /** When the period ends, in Unix seconds; undefined where it does not. */
  readonly renews: bigint | undefined;
}

/** The secrets of a key as they are kept: the password hashed, the others sealed. */
export interface StoredSecrets {
  readonly passwordHash: string | undefined;
  readonly jwtSecret: Uint8Array | undefined;
  readonly hmacString: Uint8Array | undefined;
}

/** A key as storage keeps it. It is found by the hash of its identifier, and the identifier itself is sealed. */
export interface StoredKey {
  readonly keyHash: string;
  readonly sealedKeyID: Uint8Array;
  readonly orgID: string;
  /** 1 for a new key, one more with each change. */
  readonly version: number;
  /** RFC 3339 in UTC. */
  readonly dateCreated: string;
  /** Unix seconds; strictly increasing per key, even when the clock goes back. */
  readonly lastUpdated: bigint;
  /** When it was deleted; it can be restored until it is purged. */
  readonly deleted: Date | undefined;
  readonly definition: Definition;
  readonly secrets: StoredSecrets;
  readonly quota: QuotaState;
}

/** Who did it: a credential, or the command line. Never the credential's secret. */
export interface Actor {
  readonly credentialID: string;
  readonly label: string;
}
