import type { ChangeEvent, ChangeFeed, FeedPage } from '../change-feed.js';
import { isForeign, requireScope } from '../authorization.js';
import type { CallContext } from '../ports.js';
import type { KeyRevision } from '../key.js';
import type { KeyNotice } from '../notices.js';

/** The changes to deliver, and where to start. */
export interface ChangeSubscriptionRequest {
  readonly orgID?: string | undefined;
  readonly keyHash?: string | undefined;
  /** Cursor to continue from. If absent, the subscription starts now. */
  readonly after?: string | undefined;
}

/** A change with its entry, a notice, or, if it has neither and is not unreadable, a checkpoint that only advances the cursor. */
export interface SubscribedChange {
  readonly cursor: string;
  readonly entry: KeyRevision | undefined;
  readonly notice?: KeyNotice | undefined;
  /** Whether this is a change or a notice whose row fails its integrity check. */
  readonly isUnreadable?: boolean;
}

/** The change of an event of the feed. */
export function subscribedChange({ cursor, entry, notice }: ChangeEvent): SubscribedChange {
  return { cursor, entry, notice, isUnreadable: !entry && !notice };
}

/** What a subscription needs of the feed. */
type SubscribedFeed = Omit<ChangeFeed, 'readBack'>;

/** Bounds the memory that a slow subscriber holds. */
const pageSize = 25;
/** Interval of checkpoints while no change matches. */
const defaultCheckpointMs = 30_000;

/** Subscriptions to changes. A caller that is bound to an organization receives changes of that organization only. */
export function createChangeSubscriptions(
  { feed }: { readonly feed: SubscribedFeed },
  checkpointMs = defaultCheckpointMs,
) {
  const tail = createSharedTail(feed);

  /**
   * Delivers changes until the signal is aborted, and reads more only when they are consumed. Without `after`, the first
   * item is a checkpoint of the current position.
   *
   * @throws {AppError} INVALID when the cursor is not from this service; FORBIDDEN without the scope `read`.
   */
  async function orgKeyChanges(
    caller: CallContext,
    request: ChangeSubscriptionRequest,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<SubscribedChange, void>> {
    requireScope(caller, 'read');
    const { after, keyHash, orgID = caller.orgID } = request;
    const hasNone = isForeign(caller, orgID);
    const wakeUp = createWakeUp(signal);
    // Before the first read, so that no change is missed between the two.
    const unsubscribe = tail.subscribe(wakeUp.set);
    // A signal that is aborted already has no event.
    if (signal.aborted) unsubscribe();
    else signal.addEventListener('abort', unsubscribe);

    const read = async (from: string): Promise<FeedPage> => {
      const page = await feed.read({ after: from, orgID, keyHash, limit: pageSize });
      return hasNone ? { ...page, events: [] } : page;
    };
    const readTail = async (from: string): Promise<FeedPage> => {
      const page = await tail.read(from);
      const matches = (event: ChangeEvent) =>
        !hasNone &&
        (orgID === undefined || event.orgID === orgID) &&
        (keyHash === undefined || event.keyHash === keyHash);
      return { ...page, events: page.events.filter(matches) };
    };

    async function* deliver(first: FeedPage): AsyncGenerator<SubscribedChange, void> {
      let isAtTail = false;
      let deliveredCursor = after;
      let lastDelivery = performance.now();
      try {
        if (after === undefined) yield { cursor: (deliveredCursor = first.cursor), entry: undefined };
        for (let page = first; !signal.aborted;) {
          for (const event of page.events) {
            yield subscribedChange(event);
            if (signal.aborted) return;
            deliveredCursor = event.cursor;
            lastDelivery = performance.now();
          }
          if (!page.hasMore) {
            isAtTail = true;
            await wakeUp.wait(checkpointMs);
          } else {
            // Other requests run between two pages without matches.
            await new Promise((resolve) => setImmediate(resolve));
          }
          if (page.cursor !== deliveredCursor && performance.now() - lastDelivery >= checkpointMs) {
            lastDelivery = performance.now();
            yield { cursor: (deliveredCursor = page.cursor), entry: undefined };
          }
          if (signal.aborted) return;
          wakeUp.clear();
          page = await (isAtTail ? readTail : read)(page.cursor);
        }
      } finally {
        unsubscribe();
      }
    }

    try {
      return deliver(
        after === undefined ? { events: [], cursor: await feed.latestCursor(), hasMore: false } : await read(after),
      );
    } catch (error) {
      unsubscribe();
      throw error;
    }
  }

  return { orgKeyChanges };
}

/** An event that stays set until it is cleared, so that a change during other work is not missed. Aborting sets it. */
function createWakeUp(signal: AbortSignal) {
  let isSet = false;
  let resume: () => void = () => undefined;
  const set = () => {
    isSet = true;
    resume();
  };
  signal.addEventListener('abort', set);
  return {
    set,
    clear: () => {
      isSet = signal.aborted;
    },
    wait: (timeoutMs: number): Promise<void> =>
      new Promise((resolve) => {
        if (isSet || signal.aborted) return resolve();
        const timer = setTimeout(() => resume(), timeoutMs);
        resume = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}

const maxCachedPages = 16;

/** The end of the feed, where most subscribers are: each page is read once for all of them. */
function createSharedTail(feed: SubscribedFeed) {
  const subscribers = new Set<() => void>();
  const pages = new Map<string, Promise<FeedPage>>();
  let unsubscribe: () => void = () => undefined;

  function onChange(): void {
    // Cached pages may lack the new changes.
    pages.clear();
    for (const notify of subscribers) notify();
  }

  return {
    subscribe(notify: () => void): () => void {
      subscribers.add(notify);
      if (subscribers.size === 1) unsubscribe = feed.subscribe(onChange);
      return () => {
        if (!subscribers.delete(notify) || subscribers.size > 0) return;
        pages.clear();
        unsubscribe();
      };
    },
    read(after: string): Promise<FeedPage> {
      const cached = pages.get(after);
      if (cached) return cached;
      if (pages.size >= maxCachedPages) pages.clear();
      const page = feed.read({ after, limit: pageSize });
      pages.set(after, page);
      page.catch(() => pages.delete(after));
      return page;
    },
  };
}
