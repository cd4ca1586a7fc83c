import type { ChangeEvent } from '../keys/change-feed.js';
import { failedIntegrityCheck, maxConcurrentKeys, type DeliverySession } from './delivery-session.js';

const pageSize = 100;
/** At this number of retry states no new event is sent, because all of them are held in memory. */
const maxRetryingKeys = 1_000;
const saveIntervalMs = 5_000;

/** Reads the change feed to its end, sends the events, and waits for more. Resolves when the session is stopping. */
export async function deliverNewEvents(session: DeliverySession, startCursor: string): Promise<void> {
  const { webhook, deps, queue, breaker, feedEvent, stateEvent, isStopping, recordResults } = session;
  const { feed, storage, clockMs } = deps;
  let cursor = startCursor;
  let savedMs = clockMs();

  /** Waits while the circuit breaker is open or the receiver has requested a pause. */
  async function untilMayBegin(): Promise<void> {
    while (!isStopping()) {
      const pauseMs = breaker.remainingPauseMs();
      const isFull = queue.size() >= maxRetryingKeys || (breaker.isOpen() && queue.size() > 0);
      if (!isFull && pauseMs === 0) return;
      await stateEvent.wait(isFull ? undefined : pauseMs);
    }
  }

  async function deliverPage(events: readonly ChangeEvent[]): Promise<void> {
    const eventsByKey = new Map<string, ChangeEvent[]>();
    for (const event of events) {
      const earlier = eventsByKey.get(event.keyHash);
      if (earlier) earlier.push(event);
      else eventsByKey.set(event.keyHash, [event]);
    }
    const keyQueues = [...eventsByKey.values()];
    const completed = new Set<ChangeEvent>();
    const enqueuedKeys = new Set<string>();
    await Promise.all(
      Array.from({ length: Math.min(maxConcurrentKeys, keyQueues.length) }, async () => {
        for (let events = keyQueues.shift(); events && !isStopping(); events = keyQueues.shift()) {
          await deliverInOrder(events, { completed, enqueuedKeys });
        }
      }),
    );
    // If the page was not completed, the next read starts at its first event without a result.
    const firstOpen = events.findIndex((event) => !completed.has(event));
    const reached = firstOpen === -1 ? cursor : events[firstOpen - 1]?.cursor;
    if (reached !== undefined) await recordResults(enqueuedKeys, { cursor: reached });
    savedMs = clockMs();
  }

  /** Delivers the new events of one key in order, until one fails. */
  async function deliverInOrder(
    events: readonly ChangeEvent[],
    { completed, enqueuedKeys }: { completed: Set<ChangeEvent>; enqueuedKeys: Set<string> },
  ): Promise<void> {
    for (const event of events) {
      const { keyHash, version, entry } = event;
      const state = queue.get(keyHash);
      if (state) {
        queue.enqueue(state, event);
        enqueuedKeys.add(keyHash);
        completed.add(event);
        continue;
      }
      await untilMayBegin();
      if (isStopping()) return;
      const { status, detail, retryAfterMs } = entry ? await session.attempt(entry) : failedIntegrityCheck;
      if (status === 'none' || status === 'gone') return;
      completed.add(event);
      if (status === 'delivered') continue;
      const versions = { nextVersion: version, lastVersion: version };
      const failed = { keyHash, ...versions, attempts: 0, dueMs: clockMs(), lastError: detail };
      queue.set(failed);
      await session.recordFailure(failed, entry, detail, retryAfterMs);
    }
  }

  while (!isStopping()) {
    const changed = feedEvent.wait(undefined);
    await untilMayBegin();
    if (isStopping()) return;
    const page = await storage(() =>
      feed.read({ after: cursor, limit: pageSize, ...(webhook.orgID !== undefined && { orgID: webhook.orgID }) }),
    );
    const hasMoved = page.cursor !== cursor;
    cursor = page.cursor;
    if (page.events.length > 0) await deliverPage(page.events);
    // Events of other organisations only move the cursor, which is saved at intervals.
    else if (hasMoved && clockMs() - savedMs > saveIntervalMs) {
      await recordResults([], { cursor });
      savedMs = clockMs();
    }
    if (!page.hasMore) await changed;
  }
}
