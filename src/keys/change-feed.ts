import type { KeyRevision } from './key.js';
import type { KeyNotice } from './notices.js';

/** A change of a key, or a notice about it, with its position in the feed. */
export interface ChangeEvent {
  /** Opaque. Passed as `after`, it selects all later changes. */
  readonly cursor: string;
  readonly keyHash: string;
  readonly orgID: string;
  /** The version after the change; 0 for a notice. */
  readonly version: number;
  /** Undefined if the history entry fails its integrity check: the members above are unverified then. */
  readonly entry: KeyRevision | undefined;
  /** The identifier of a notice; undefined for a change. */
  readonly noticeID?: string | undefined;
  /** As `entry`, for a notice. */
  readonly notice?: KeyNotice | undefined;
}

/** Selects a page of changes. */
export interface FeedQuery {
  /** Undefined reads from the first change. */
  readonly after: string | undefined;
  readonly orgID?: string | undefined;
  readonly keyHash?: string | undefined;
  readonly limit: number;
}

/** Selects a page of changes, the newest first. */
export interface RecentQuery {
  /** Undefined reads from the last change. */
  readonly before: string | undefined;
  readonly orgID?: string | undefined;
  readonly limit: number;
}

/** A page of changes. */
export interface FeedPage {
  /** In the order in which they were read: that of the commits, or its reverse. */
  readonly events: readonly ChangeEvent[];
  /** Position to continue from. It is past all changes that were scanned, even those that did not match. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The changes of all keys, and notices about them, as one sequence. Reading it by cursors yields each change exactly once. */
export interface ChangeFeed {
  /** @throws {AppError} INVALID when the cursor is not from this service. */
  read(query: FeedQuery): Promise<FeedPage>;
  /**
   * Reads what `read` reads, in reverse.
   *
   * @throws {AppError} INVALID with the path `after`, the argument of clients, when the cursor is not from this service.
   */
  readBack(query: RecentQuery): Promise<FeedPage>;
  /** Returns the cursor of the current end of the feed. */
  latestCursor(): Promise<string>;
  /** Calls `onChange` soon after changes may have been added, by any process. Returns a function that unsubscribes. */
  subscribe(onChange: () => void): () => void;
}
