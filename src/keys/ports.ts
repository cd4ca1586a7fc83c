import type { ChangeDeadline } from './change-deadline.js';
import type { ChangeFeed } from './feed.js';
import type { SecretProtectionDeps } from './commands/protect-secrets.js';
import type { QuotaManager } from './quota/quota.js';
import type { ReadBudget } from './read-budget.js';
import type { Actor } from './key.js';
import type { KeyStore } from './store.js';

/** Who asks: a verified credential, perhaps bound to one organisation. */
export interface Caller extends Actor {
  readonly orgID: string | undefined;
  readonly requestID: string;
  /** Absent for work without a time limit. */
  readonly deadline?: ChangeDeadline;
  /** What the request may read. */
  readonly reads?: ReadBudget;
}

/** An attempt to change a key and its outcome. The history has the changes only; this includes rejected attempts. */
export interface AuditEvent {
  /** The name of the operation, the same in both APIs. */
  readonly operation: string;
  readonly requestID: string;
  /** Undefined if the request has no valid credential. */
  readonly caller: Omit<Caller, 'requestID'> | undefined;
  /** Undefined if the key has no valid identifier, or none yet. */
  readonly keyHash: string | undefined;
  readonly outcome: Accepted | Refused;
}

export interface Accepted {
  readonly orgID?: string;
  readonly version?: number;
  /** Whether it happens with each request that a gateway admits. */
  readonly isTraffic?: boolean;
}

interface Refused {
  readonly error: unknown;
}

/** Called for every attempt. Must not throw. */
export type AuditLog = (attempt: AuditEvent) => void;

/** What the domain needs from the world around it. */
export interface Ports extends SecretProtectionDeps {
  readonly store: KeyStore;
  readonly quotas: QuotaManager;
  readonly feed: ChangeFeed;
  readonly now: () => Date;
  /** Lower-case hex of a key identifier. The same identifier always has the same hash. */
  readonly hashKeyID: (keyID: string) => string;
  /** 32 fresh random hex digits. */
  readonly randomHex: () => string;
  /** The inverse of `seal`. */
  readonly open: (sealed: Uint8Array, place: string) => string;
  /** For how long a deleted key can be restored. */
  readonly restoreWindowMs: number;
  /** Told of every attempt to change a key; of none where it is left out. */
  readonly audit?: AuditLog;
  /** Takes the cause of an INTERNAL error that a response does not fail with, for the log. */
  readonly reportError?: (error: unknown, requestID: string) => void;
}
