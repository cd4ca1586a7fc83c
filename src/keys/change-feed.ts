import type { KeyRevision } from './key.js';

/** A change of a key, and where it stands among the changes of all keys. */
export interface ChangeEvent {
  /** Opaque; given back as `after`, it means everything that took effect later. */
  readonly cursor: string;
  readonly keyHash: string;
  readonly orgID: string;
  /** The version that the change led to. */
  readonly version: number;
  /** Undefined if the history entry fails its integrity check: the members above are unverified then. */
  readonly entry: KeyRevision | undefined;
}

export interface FeedQuery {
  /** From the first change on where it is undefined. */
  readonly after: string | undefined;
  readonly orgID?: string | undefined;
  readonly keyHash?: string | undefined;
  readonly limit: number;
}

export interface FeedPage {
  /** In the order in which they took effect. */
  readonly events: readonly ChangeEvent[];
  /** To go on from: it lies behind all that was looked at, also where nothing of it was asked for. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** The changes of all keys as one sequence that nobody who follows it by cursors misses or sees twice a part of. */
export interface ChangeFeed {
  /** Throws an AppError of code INVALID where the cursor is none of ours. */
  read(query: FeedQuery): Promise<FeedPage>;
  /** The cursor that lies behind everything there is. */
  latestCursor(): Promise<string>;
  /** Calls back soon after there may be more, also where another process has made the change. Returns what ends it. */
  subscribe(onMore: () => void): () => void;
}
