import type { KeyRevision } from '../keys/key.js';
import { failedIntegrityCheck, maxConcurrentRetries, type DeliverySession } from './delivery-session.js';
import type { RetryState } from './webhook.js';

/** Waiting events are read, and recorded as delivered, in pages of this size. After a crash a page is sent again. */
const pageSize = 20;

/** Retries keys when they are due. Resolves when the session is stopping and no retry is in flight. */
export async function retryKeys(session: DeliverySession): Promise<void> {
  const { deps, log, queue, breaker, stateEvent, isStopping, recordResults } = session;
  const { clockMs } = deps;
  const retrying = new Set<string>();
  const running = new Set<Promise<void>>();

  function msToNextRetry(): number | undefined {
    const idle = [...queue.states()].filter(({ keyHash }) => !retrying.has(keyHash));
    if (idle.length === 0 || retrying.size >= maxConcurrentRetries) return undefined;
    const earliestMs = idle.reduce((earliest, { dueMs }) => Math.min(earliest, dueMs), Infinity);
    return Math.max(earliestMs - clockMs(), breaker.remainingPauseMs(), 1);
  }

  function startRetry(keyHash: string): void {
    retrying.add(keyHash);
    const work: Promise<void> = retryKey(keyHash)
      .catch(session.fail)
      .finally(() => {
        retrying.delete(keyHash);
        running.delete(work);
        stateEvent.set();
      });
    running.add(work);
  }

  /** Sends the waiting events of a key in order, until one fails or none is left. */
  async function retryKey(keyHash: string): Promise<void> {
    let unwritten = 0;
    let entries: readonly KeyRevision[] = [];
    for (
      let state = queue.get(keyHash);
      state && !isStopping() && state.dueMs <= clockMs();
      state = queue.get(keyHash)
    ) {
      const { nextVersion } = state;
      if (!entries.some(({ versionAfter }) => versionAfter === nextVersion)) {
        const waiting = await readWaitingEntries(state);
        if (isStopping() || (queue.get(keyHash)?.dueMs ?? 0) > clockMs()) break;
        if (!waiting) {
          unwritten = 0;
          await session.recordFailure(queue.get(keyHash) ?? state, undefined, failedIntegrityCheck.detail);
          continue;
        }
        entries = waiting;
      }
      const entry = entries.find(({ versionAfter }) => versionAfter === nextVersion);
      if (!entry) {
        log.warn({ keyHash, version: nextVersion }, 'the key has been purged with its waiting events');
        queue.remove(keyHash);
        unwritten = 0;
        await recordResults([keyHash]);
        continue;
      }
      const wasOpen = breaker.isOpen();
      const { status, detail, retryAfterMs } = await session.attempt(entry);
      if (status === 'none') break;
      const current = queue.get(keyHash) ?? state;
      // A page that was read again may have reset the state meanwhile.
      if (current.nextVersion !== nextVersion) continue;
      if (status === 'delivered') {
        queue.advance(current);
        if (wasOpen) queue.makeAllDue();
        unwritten += 1;
        if (unwritten < pageSize && queue.get(keyHash)) continue;
        unwritten = 0;
        await recordResults([keyHash]);
      } else if (status === 'failed') {
        unwritten = 0;
        await session.recordFailure(current, entry, detail, retryAfterMs);
      }
    }
    if (unwritten > 0) await recordResults([keyHash]);
  }

  /** The waiting entries of a key; undefined if the next one fails its integrity check. */
  async function readWaitingEntries({ keyHash, nextVersion }: RetryState): Promise<KeyRevision[] | undefined> {
    // A later entry that fails its integrity check must not block the entries before it.
    return (await session.readEntries(keyHash, nextVersion, pageSize)) ?? session.readEntries(keyHash, nextVersion, 1);
  }

  while (!isStopping()) {
    const changed = stateEvent.wait(msToNextRetry());
    if (breaker.remainingPauseMs() === 0) {
      for (const { keyHash, dueMs } of queue.states()) {
        if (running.size >= maxConcurrentRetries) break;
        if (!retrying.has(keyHash) && dueMs <= clockMs()) startRetry(keyHash);
      }
    }
    await changed;
  }
  await Promise.all(running);
}
