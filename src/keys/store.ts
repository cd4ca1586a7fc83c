import type { Definition } from './normal-form.js';

/** The live side of a quota: traffic changes it, updates of the definition do not. */
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
  readonly definition: Definition;
  readonly secrets: StoredSecrets;
  readonly quota: QuotaState;
}

/** Who did it: a credential, or the command line. Never the credential's secret. */
export interface Actor {
  readonly credentialID: string;
  readonly label: string;
}

/** What is remembered of a change, written in the same transaction. */
export interface AuditEntry {
  readonly at: Date;
  readonly keyHash: string;
  readonly orgID: string;
  readonly operation: 'import' | 'update';
  readonly actor: Actor;
  readonly requestID: string;
  /** 0 where the key did not exist before. */
  readonly versionBefore: number;
  readonly versionAfter: number;
  /** What had been used of the quota when it was reset; undefined where it was not. */
  readonly quotaUsedBeforeReset: bigint | undefined;
}

export interface Change {
  readonly next: StoredKey;
  readonly audit: AuditEntry;
}

/**
 * Where keys are kept. Every promise settles after the write is durable; a rejected one with an `AppError` of code
 * UNAVAILABLE may be tried again.
 */
export interface KeyStore {
  find(keyHash: string): Promise<StoredKey | undefined>;
  /**
   * Reads, applies and writes in one transaction. `change` is pure and synchronous: it may run again, and what it throws
   * undoes everything. Returns what was written.
   */
  update(keyHash: string, change: (stored: StoredKey | undefined) => Change): Promise<Change>;
  /** Adds new keys in one transaction. A key that exists is left as it is; tells for each whether it was added. */
  add(keys: readonly Change[]): Promise<boolean[]>;
  /** Seals the secrets of a key anew. Not a change of the key: no version, no audit entry. */
  reseal(keyHash: string, change: (stored: StoredKey) => StoredKey): Promise<void>;
  /** Every key, ordered by hash, read a page at a time so that writers are not held up. */
  all(): AsyncIterable<StoredKey>;
  /** What was remembered of one key, oldest first. */
  auditOf(keyHash: string): Promise<AuditEntry[]>;
}
