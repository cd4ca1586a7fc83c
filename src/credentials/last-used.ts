import type { CredentialStore } from './credential.js';
import type { Logger } from '../lib/log.js';

/** Remembers when credentials were last used, beside the requests and not in them. */
export interface LastUsedRecorder {
  note(credentialID: string, at: Date): void;
  /** Writes what was noted since the last time, in one transaction. What cannot be written stays noted. */
  flush(): Promise<void>;
  /** Writes the rest and stops. */
  close(): Promise<void>;
}

const everyMs = 60_000;

/** Writes once a minute what was noted in it, so that a crash loses no more than that. */
export function createLastUsedRecorder(store: CredentialStore, log: Logger): LastUsedRecorder {
  let noted = new Map<string, Date>();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await store.markUsed(uses);
    } catch (error) {
      noted = new Map([...uses, ...noted]);
      log.warn({ err: error }, 'the last uses of credentials were not written; it is tried again in a minute');
    }
  }

  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    note: (credentialID, at) => void noted.set(credentialID, at),
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
