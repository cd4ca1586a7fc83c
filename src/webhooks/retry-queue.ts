import type { ChangeEvent } from '../keys/change-feed.js';
import type { RetryState } from './webhook.js';

/** The keys with a failed event, in memory. Later events of such a key wait behind the failed one. */
export interface RetryQueue {
  readonly get: (keyHash: string) => RetryState | undefined;
  readonly size: () => number;
  readonly states: () => IterableIterator<RetryState>;
  readonly set: (state: RetryState) => void;
  readonly remove: (keyHash: string) => void;
  /** Appends an event behind earlier ones of its key. Its entry is read from the history before it is sent. */
  readonly enqueue: (state: RetryState, event: ChangeEvent) => void;
  /** Advances a key to its next event; removes the key if there is none. */
  readonly advance: (state: RetryState) => void;
  /** Makes all keys due, after an outage has ended. */
  readonly makeAllDue: () => void;
}

/**
 * Creates an empty queue.
 *
 * @param clockMs returns the current time in Unix milliseconds
 * @param onChange is called after every change
 */
export function createRetryQueue(clockMs: () => number, onChange: () => void): RetryQueue {
  const states = new Map<string, RetryState>();
  function set(state: RetryState): void {
    states.set(state.keyHash, state);
    onChange();
  }
  function remove(keyHash: string): void {
    states.delete(keyHash);
    onChange();
  }
  return {
    get: (keyHash) => states.get(keyHash),
    size: () => states.size,
    states: () => states.values(),
    set,
    remove,
    enqueue(state, { version, entry }) {
      if (version >= state.nextVersion) return set({ ...state, lastVersion: Math.max(state.lastVersion, version) });
      // A page that is read again contains earlier versions; a key that is created after a purge starts at version 1.
      const lastVersion = entry?.versionBefore === 0 ? version : state.lastVersion;
      set({ ...state, nextVersion: version, lastVersion, attempts: 0, dueMs: clockMs() });
    },
    advance(state) {
      // Further events may have been enqueued during the attempt.
      const lastVersion = states.get(state.keyHash)?.lastVersion ?? state.lastVersion;
      if (state.nextVersion >= lastVersion) return remove(state.keyHash);
      const nextVersion = state.nextVersion + 1;
      set({ ...state, lastVersion, nextVersion, attempts: 0, dueMs: clockMs(), lastError: '' });
    },
    makeAllDue() {
      for (const state of states.values()) states.set(state.keyHash, { ...state, dueMs: clockMs() });
      onChange();
    },
  };
}
