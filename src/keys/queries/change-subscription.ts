import type { ChangeEvent, ChangeFeed, FeedPage } from '../change-feed.js';
import type { CallContext, Ports } from '../ports.js';
import type { KeyRevision } from '../key.js';

/** Which changes are meant, and from where on. */
export interface ChangeSubscriptionRequest {
  readonly orgID?: string | undefined;
  readonly keyHash?: string | undefined;
  /** From now on where it is absent. */
  readonly after?: string | undefined;
}

/** A change, or only how far changes have been looked at. */
export interface SubscribedChange {
  readonly cursor: string;
  readonly entry: KeyRevision | undefined;
  /** Whether there is a change whose history entry fails its integrity check. */
  readonly isUnreadable?: boolean;
}

/** Bounds what is held for somebody who takes it slowly. */
const pageSize = 25;
/** So often whoever is told nothing is told how far that holds. */
const standingEveryMs = 30_000;

/** The use case of following changes. A caller that is bound to an organisation is told of that organisation's only. */
export function createChangeSubscriptions({ feed }: Pick<Ports, 'feed'>, everyMs = standingEveryMs) {
  const tail = createTail(feed);

  /**
   * Tells changes until the signal is aborted, reading on only as they are taken. Begins, where it begins now, by telling
   * where that is. Throws INVALID for a cursor that is none of ours.
   */
  async function orgKeyChanges(
    caller: CallContext,
    request: ChangeSubscriptionRequest,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<SubscribedChange, void>> {
    const { after, keyHash, orgID = caller.orgID } = request;
    // Another organisation is one in which nothing ever happens.
    const isForeign = caller.orgID !== undefined && orgID !== caller.orgID;
    const bell = createBell(signal);
    // Before the first look, so that no change falls between the two.
    const hangUp = tail.follow(bell.ring);
    signal.addEventListener('abort', hangUp, { once: true });

    const read = async (from: string): Promise<FeedPage> => {
      const page = await feed.read({ after: from, orgID, keyHash, limit: pageSize });
      return isForeign ? { ...page, events: [] } : page;
    };
    const readTail = async (from: string): Promise<FeedPage> => {
      const page = await tail.read(from);
      const isMeant = (event: ChangeEvent) =>
        !isForeign &&
        (orgID === undefined || event.orgID === orgID) &&
        (keyHash === undefined || event.keyHash === keyHash);
      return { ...page, events: page.events.filter(isMeant) };
    };

    async function* told(first: FeedPage): AsyncGenerator<SubscribedChange, void> {
      let isAtTail = false;
      let known = after;
      let quietSince = performance.now();
      try {
        if (after === undefined) yield { cursor: (known = first.cursor), entry: undefined };
        for (let page = first; !signal.aborted;) {
          for (const event of page.events) {
            const { cursor, entry } = event;
            yield { cursor, entry, isUnreadable: entry === undefined };
            if (signal.aborted) return;
            known = event.cursor;
            quietSince = performance.now();
          }
          if (!page.hasMore) {
            isAtTail = true;
            await bell.wait(everyMs);
          } else {
            // Others are served between two looks that find nothing.
            await new Promise((resolve) => setImmediate(resolve));
          }
          if (page.cursor !== known && performance.now() - quietSince >= everyMs) {
            quietSince = performance.now();
            yield { cursor: (known = page.cursor), entry: undefined };
          }
          if (signal.aborted) return;
          bell.hush();
          page = await (isAtTail ? readTail : read)(page.cursor);
        }
      } finally {
        hangUp();
      }
    }

    try {
      return told(
        after === undefined ? { events: [], cursor: await feed.latestCursor(), hasMore: false } : await read(after),
      );
    } catch (error) {
      hangUp();
      throw error;
    }
  }

  return { orgKeyChanges };
}

/** Rings for somebody who may be busy, and then finds that it has rung. */
function createBell(signal: AbortSignal) {
  let hasRung = false;
  let wake: () => void = () => undefined;
  const ring = () => {
    hasRung = true;
    wake();
  };
  signal.addEventListener('abort', ring, { once: true });
  return {
    ring,
    hush: () => {
      hasRung = signal.aborted;
    },
    wait: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (hasRung || signal.aborted) return resolve();
        const timer = setTimeout(() => wake(), ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}

const mostPages = 16;

/** The end of the feed, where most who follow stand: what comes there is read once for all of them. */
function createTail(feed: ChangeFeed) {
  const ringers = new Set<() => void>();
  const pages = new Map<string, Promise<FeedPage>>();
  let end: () => void = () => undefined;

  function onMore(): void {
    // What was read before may lack what there is now.
    pages.clear();
    for (const ring of ringers) ring();
  }

  return {
    follow(ring: () => void): () => void {
      ringers.add(ring);
      if (ringers.size === 1) end = feed.subscribe(onMore);
      return () => {
        if (!ringers.delete(ring) || ringers.size > 0) return;
        pages.clear();
        end();
      };
    },
    read(after: string): Promise<FeedPage> {
      const known = pages.get(after);
      if (known) return known;
      if (pages.size >= mostPages) pages.clear();
      const page = feed.read({ after, limit: pageSize });
      pages.set(after, page);
      page.catch(() => pages.delete(after));
      return page;
    },
  };
}
