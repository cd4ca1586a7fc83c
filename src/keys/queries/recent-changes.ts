import { isForeign, requireScope } from '../authorization.js';
import type { CallContext, Ports } from '../ports.js';
import { subscribedChange, type SubscribedChange } from './change-subscription.js';

/** Selects a page of changes, the newest first. */
export interface RecentChangesRequest {
  readonly orgID?: string | undefined;
  /** Cursor of a change: the page has those before it. Undefined for the newest. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** A page of changes and notices, the newest first. */
export interface RecentChangesPage {
  readonly changes: readonly SubscribedChange[];
  /** The cursor for the next page: that of the change that was looked at last; undefined if there was none. */
  readonly end: string | undefined;
  readonly hasNext: boolean;
}

/** Reads of the feed for one page, each of which looks at 1,000 changes. */
const maxReads = 10;

/** The query of the changes of all keys. A caller that is bound to an organization receives those of its keys only. */
export function createRecentChanges({ feed, nextSlice }: Pick<Ports, 'feed' | 'nextSlice'>) {
  return {
    /**
     * Returns the changes of all keys, and notices about them, the newest first. A page can have fewer than `limit`, because
     * one request looks at 10,000 changes, and returns as many as are within 256 KiB, at least one.
     *
     * @throws {AppError} INVALID with the path `after` when the cursor is not from this service; FORBIDDEN without the scope
     * `read`.
     */
    async recentChanges(
      caller: CallContext,
      { orgID = caller.orgID, after, limit }: RecentChangesRequest,
    ): Promise<RecentChangesPage> {
      requireScope(caller, 'read');
      if (isForeign(caller, orgID)) return { changes: [], end: undefined, hasNext: false };
      let end = after;
      for (let reads = 1; ; reads += 1) {
        const { events, cursor, hasMore } = await feed.readBack({ before: end, orgID, limit: Math.max(limit, 1) });
        if (limit === 0) return { changes: [], end, hasNext: hasMore || events.length > 0 };
        if (!hasMore && events.length === 0) return { changes: [], end: after, hasNext: false };
        end = cursor;
        const isEnough = events.length > 0 || reads === maxReads;
        if (!hasMore || isEnough) return { changes: events.map(subscribedChange), end, hasNext: hasMore };
        await nextSlice();
      }
    },
  };
}
