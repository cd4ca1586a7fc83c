import type { KeyFilter } from '../../keys/key-query.js';
import type { FieldChange, KeyState } from '../../keys/key.js';
import type { KeyReference } from '../../keys/queries/read-keys.js';
import type { ResetStatus } from '../../keys/quota/quota-manager.js';
import type { QuotaFigures } from '../../keys/quota/quota.js';
import type { Issue } from '../../lib/errors.js';

/** Options of every change. */
export interface ChangeOptions {
  readonly expectedVersion?: number | undefined;
  readonly reason?: string | undefined;
}

/** Options of an update. */
export interface UpdateOptions extends ChangeOptions {
  readonly resetQuota: boolean;
}

/** Options of the dry run of an update. */
interface PreviewOptions extends UpdateOptions {
  /** Whether to preview the update of a deleted key too, as it would be after it is restored. */
  readonly includeDeleted?: boolean;
}

/** What names a key, also a deleted one. */
export interface FoundKey {
  readonly keyID: string;
  readonly keyHash: string;
  readonly orgID: string;
  readonly version: number;
  readonly state: KeyState;
  readonly alias: string | undefined;
}

/** Options of a creation. */
interface CreateOptions extends Pick<ChangeOptions, 'reason'> {
  /** The beginning of a generated identifier. Default: the identifier of the organisation. */
  readonly keyIDPrefix?: string | undefined;
}

/** The live quota of a key. */
export type LiveQuota = Pick<QuotaFigures, 'used' | 'remaining' | 'renewsAt'>;

/** A stored key. The definition contains no secrets and no fields that the service sets. */
interface ReadKey {
  readonly keyHash: string;
  readonly version: number;
  readonly definition: object;
  /**
   * Returns the live quota, which requests consume; undefined if its counter is unreachable. The definition contains
   * the values of the last update or reset.
   */
  readonly readQuota: () => Promise<LiveQuota | undefined>;
}

/** The result of a change or of its preview. */
export interface KeyChangeResult {
  readonly keyHash: string;
  readonly version: number;
  /** False if the key has this definition already, and keeps its version. */
  readonly isChanged: boolean;
  readonly changes: readonly FieldChange[];
  /** Undefined if the live quota cannot be read. */
  readonly quotaEffect: { readonly before: QuotaFigures; readonly after: QuotaFigures } | undefined;
  /** Undefined if no reset was requested. */
  readonly quotaReset: ResetStatus | undefined;
  readonly warnings: readonly Issue[];
}

/** The result of a creation, with the identifier of the key. */
type CreatedKey = KeyChangeResult & { readonly keyID: string };

/** An entry in the history of a key. */
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

/** The changes to follow; absent filters select all. */
interface FollowRequest {
  readonly orgID: string | undefined;
  readonly keyHash: string | undefined;
  /** The cursor of the last change that was received. Undefined follows from now on, and begins with a cursor. */
  readonly after: string | undefined;
}

/** A change of a key. Without `change`, it only advances the cursor. */
export interface FollowedChange {
  readonly cursor: string;
  readonly change: { readonly keyHash: string; readonly orgID: string; readonly entry: KeyHistoryEntry } | undefined;
  /** Whether this is a change that fails its integrity check. */
  readonly isUnreadable: boolean;
}

/** A key in a list. */
export interface ListedKey {
  readonly keyHash: string;
  readonly orgID: string;
  readonly state: KeyState;
  readonly version: number;
  readonly alias: string | undefined;
  readonly tags: readonly string[];
  /** Unix seconds; undefined if the key never expires. */
  readonly expires: bigint | undefined;
  /** Unix seconds. */
  readonly lastUpdated: bigint;
  readonly quota: LiveQuota;
}

/** A page of a list of keys. */
interface KeyListPage {
  readonly keys: readonly ListedKey[];
  /** The hashes of the keys of the page that fail their integrity check. */
  readonly unreadable: readonly string[];
  /** Position to continue after; undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The operations of the commands for keys, in the data folder or at a service. Definitions, paths and issues use the
 * names of the domain.
 *
 * Every method throws an `AppError` if the request is rejected, and an `Error` if the service cannot be reached.
 */
export interface KeyClient {
  /** Returns the hash of an identifier; undefined if only the service knows how to compute it. */
  hashOf(keyID: string): string | undefined;
  /** Returns the key, also a deleted one until it is purged; undefined if there is none. */
  find(reference: KeyReference): Promise<FoundKey | undefined>;
  read(keyID: string): Promise<ReadKey>;
  /** Returns what `update` would change now. */
  previewUpdate(keyID: string, definition: unknown, options: PreviewOptions): Promise<KeyChangeResult>;
  update(keyID: string, definition: unknown, options: UpdateOptions): Promise<KeyChangeResult>;
  /** Creates a key. Its identifier is generated if `keyID` is undefined. */
  create(keyID: string | undefined, definition: unknown, options: CreateOptions): Promise<CreatedKey>;
  revert(keyID: string, toVersion: number, options: ChangeOptions): Promise<KeyChangeResult>;
  delete(keyID: string, options: ChangeOptions): Promise<KeyChangeResult>;
  /** Restores a deleted key. */
  undelete(keyID: string, options: ChangeOptions): Promise<KeyChangeResult>;
  /** Returns a page of the keys that match the filter, in the default order of the filter. */
  list(filter: KeyFilter, limit: number, after: string | undefined): Promise<KeyListPage>;
  /** Returns the newest entries, newest first. */
  history(keyID: string, limit: number): Promise<readonly KeyHistoryEntry[]>;
  /** Yields changes as they are made, each once and in order, until the signal is aborted. */
  follow(request: FollowRequest, signal: AbortSignal): AsyncIterable<FollowedChange>;
}
