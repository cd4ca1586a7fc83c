import type { Issue } from '../../lib/errors.js';
import type { FieldChange } from '../../keys/key.js';
import type { ResetStatus } from '../../keys/quota/quota-manager.js';
import type { QuotaFigures } from '../../keys/quota/quota.js';

/** What every change may say beside what it changes. */
export interface ChangeOptions {
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
}

export interface UpdateOptions extends ChangeOptions {
  readonly resetQuota: boolean;
}

/** A key as it is: its definition has no secrets, and nothing that the service owns. */
export interface ReadKey {
  readonly keyHash: string;
  readonly version: number;
  readonly definition: object;
}

/** What a change did, or would do. */
export interface KeyChangeResult {
  readonly keyHash: string;
  readonly version: number;
  readonly changes: readonly FieldChange[];
  /** Undefined where the live quota could not be read. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined where no reset was asked for. */
  readonly quotaReset: ResetStatus | undefined;
  readonly warnings: readonly Issue[];
}

/** One change in the life of a key. */
export interface KeyHistoryEntry {
  readonly version: number;
  readonly at: string;
  readonly operation: string;
  readonly credentialID: string;
  readonly credentialLabel: string;
  readonly reason: string | undefined;
  readonly requestID: string | undefined;
  readonly quotaUsedBeforeReset: bigint | undefined;
  readonly changes: readonly FieldChange[];
}

/**
 * The keys of an installation, here or at the other end of a network. Definitions, paths and issues are in the names of
 * the domain. All of it throws `AppError` where it is refused, and an Error in words where nobody could be asked.
 */
export interface KeyClient {
  /** The identifier of the key that has this hash. */
  keyIDOf(keyHash: string): Promise<string>;
  read(keyID: string): Promise<ReadKey>;
  /** What `update` would do now. */
  previewUpdate(keyID: string, definition: unknown, options: UpdateOptions): Promise<KeyChangeResult>;
  update(keyID: string, definition: unknown, options: UpdateOptions): Promise<KeyChangeResult>;
  create(keyID: string, definition: unknown, options: Pick<ChangeOptions, 'reason'>): Promise<KeyChangeResult>;
  revert(keyID: string, toVersion: number, options: ChangeOptions): Promise<KeyChangeResult>;
  /** The newest entries, the newest first. */
  history(keyID: string, limit: number): Promise<readonly KeyHistoryEntry[]>;
}
