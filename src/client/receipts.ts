import type { OperationSender } from './edit.js';
import { AcknowledgeChangesDocument } from './generated/graphql.js';
import { retried, wait } from './retry.js';

/** A gateway whose state is acknowledged. */
export interface SyncedGateway {
  /** Its name: 1 to 64 letters, digits, dots, hyphens and underscores. One for each copy. */
  readonly name: string;
  /** Returns the digest of the copy as it is now, of `createCopyDigest`, from the start of `sync` on. Default: none is sent. */
  readonly digest?: (() => string) | undefined;
  /** Resolves when the gateway uses all that was saved until now. Default: at once, because a saved copy is in use. */
  readonly whenApplied?: (() => Promise<void>) | undefined;
}

/** How often the service is told at most what the gateway has, and at least, so that it sees that the adapter runs. */
const minPauseMs = 250;
const maxPauseMs = 30_000;

/** Tells the service what a gateway has. */
export interface Receipts {
  /** Tells it that all keys are read anew, and that what the gateway has is not known. */
  readonly begin: () => Promise<void>;
  /** Notes that the copy has all changes up to a cursor. */
  readonly reached: (cursor: string) => void;
  /** Tells what was noted last, again and again, until the signal is aborted. @throws {KeyfrontError} if an error is permanent. */
  readonly send: () => Promise<void>;
}

/** What the copy has, and its digest at that moment. */
interface Reached {
  readonly cursor: string | null;
  readonly digest: string | null;
}

/** Acknowledges the changes of one copy, beside the work on it: no change waits for an acknowledgement. */
export function createReceipts(
  client: OperationSender,
  { name, digest, whenApplied }: SyncedGateway,
  orgID: string | undefined,
  signal: AbortSignal,
): Receipts {
  let reached: Reached | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  let wake = new AbortController();

  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  /** One at a time, so that an earlier cursor never replaces a later one, and none follows `begin`. */
  const tell = (what: () => Reached | undefined): Promise<unknown> => {
    const send = async () => {
      const now = what();
      if (!now) return;
      const variables = { gateway: name, orgID: orgID ?? null, ...now };
      await retried(() => client.send(AcknowledgeChangesDocument, variables, { signal }), signal);
    };
    sending = sending.then(send, send);
    return sending;
  };

  return {
    begin: async () => {
      reached = undefined;
      await tell(() => ({ cursor: null, digest: null }));
    },
    reached: (cursor) => {
      reached = { cursor, digest: digest?.() ?? null };
      wake.abort();
    },
    send: async () => {
      while (!signal.aborted) {
        const now = reached;
        if (now) {
          await Promise.race([whenApplied?.(), aborted]);
          if (signal.aborted) return;
          // Only what is still true: all keys may be read anew since.
          await tell(() => (reached ? now : undefined));
        }
        wake = new AbortController();
        await wait(minPauseMs, signal);
        if (reached === now) await wait(maxPauseMs, AbortSignal.any([signal, wake.signal]));
      }
    },
  };
}
