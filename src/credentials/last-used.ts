import type { CredentialStore } from './credential.js';
import type { Logger } from '../lib/log.js';

/** Records when credentials were last used, without a write per request. */
export interface LastUsedRecorder {
  /** Buffers a use until the next flush. */
  readonly note: (credentialID: string, at: Date) => void;
  /** Writes the remaining uses and stops the timer. */
  readonly close: () => Promise<void>;
}

const flushIntervalMs = 60_000;

/** Creates a recorder that writes once a minute. A crash loses at most the last minute. */
export function createLastUsedRecorder(store: CredentialStore, log: Logger): LastUsedRecorder {
  let pending = new Map<string, Date>();

  /** Writes the uses since the last flush in one transaction. If it fails, they stay buffered until the next flush. */
  async function flush(): Promise<void> {
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    try {
      await store.markUsed(uses);
    } catch (error) {
      pending = new Map([...uses, ...pending]);
      log.warn({ err: error }, 'cannot write the last uses of credentials; retrying in a minute');
    }
  }

  const timer = setInterval(() => void flush(), flushIntervalMs).unref();
  return {
    note: (credentialID, at) => void pending.set(credentialID, at),
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
