import { setTimeout as wait } from 'node:timers/promises';

/** How changes are found. */
export interface ChangeSource {
  /** The newest change, and whether there is one that cannot be read yet. */
  readonly read: () => Promise<{ readonly newest: string; readonly isPending: boolean }>;
  /** Subscribes to changes of other processes, of which some may be missed. Returns the function that ends it. */
  readonly listen?: (hint: () => void) => () => void;
  /** The polling interval in milliseconds. */
  readonly everyMs: number;
}

/** Notifies the subscriptions of this process of new changes. */
export interface ChangeNotifier {
  readonly follow: (onMore: () => void) => () => void;
  /** Reports that there may be a new change. */
  readonly hint: () => void;
  /** Ends all subscriptions. */
  readonly stop: () => void;
}

/** The minimum time between two reads, however many hints there are. */
const minIntervalMs = 15;
/** The interval while a change is pending. */
const pendingMs = 50;

/** Notifies subscribers of changes. Without subscribers nothing is read. */
export function createChangeNotifier({ read, listen, everyMs }: ChangeSource): ChangeNotifier {
  const subscribers = new Set<() => void>();
  let known: string | undefined;
  let isPolling = false;
  let isHinted = false;
  let timer: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;

  async function poll(): Promise<void> {
    let nextMs = everyMs;
    try {
      const { newest, isPending } = await read();
      if (isPending) nextMs = Math.min(pendingMs, everyMs);
      if (newest !== known) for (const onMore of subscribers) onMore();
      known = newest;
    } catch {
      // An unreachable database is polled again; requests that read it report the error.
    }
    schedule(nextMs);
  }

  async function pollWhileHinted(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (isHinted && subscribers.size > 0) {
      isHinted = false;
      await poll();
      await wait(minIntervalMs, undefined, { ref: false });
    }
    isPolling = false;
  }

  function schedule(ms: number): void {
    clearTimeout(timer);
    timer = subscribers.size > 0 ? setTimeout(hint, ms).unref() : undefined;
  }

  function hint(): void {
    if (subscribers.size === 0) return;
    isHinted = true;
    void pollWhileHinted();
  }

  function stop(): void {
    subscribers.clear();
    clearTimeout(timer);
    stopListening?.();
    stopListening = undefined;
  }

  return {
    hint,
    stop,
    follow(onMore: () => void): () => void {
      // The same function may subscribe twice and end one subscription.
      const own = () => onMore();
      subscribers.add(own);
      if (subscribers.size === 1) {
        known = undefined;
        stopListening = listen?.(hint);
      }
      hint();
      return () => {
        if (subscribers.delete(own) && subscribers.size === 0) stop();
      };
    },
  };
}
