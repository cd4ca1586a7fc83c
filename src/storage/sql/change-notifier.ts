import { setTimeout as wait } from 'node:timers/promises';

/** How an engine finds out whether there is more. */
interface Looking {
  /** Names the newest change there is, and tells whether there is one that cannot be answered yet. */
  readonly look: () => Promise<{ readonly newest: string; readonly isPending: boolean }>;
  /** Begins to be told of other processes' changes; what it returns ends that. It may miss some. */
  readonly listen?: (hint: () => void) => () => void;
  /** How often it looks where nobody tells it to. */
  readonly everyMs: number;
}

export interface ChangeNotifier {
  readonly follow: (onMore: () => void) => () => void;
  /** Tells that there may be more. */
  readonly hint: () => void;
  /** Ends it for all. */
  readonly stop: () => void;
}

/** So long lies between two looks, however many hints there are: under load a look finds many changes. */
const restMs = 15;
/** How soon it looks again for what is about to be answered. */
const pendingMs = 50;

/** Those who follow the changes. Nothing is done and nothing is looked at while there are none. */
export function createChangeNotifier({ look, listen, everyMs }: Looking): ChangeNotifier {
  const followers = new Set<() => void>();
  let known: string | undefined;
  let isLooking = false;
  let isHinted = false;
  let timer: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;

  async function lookOnce(): Promise<void> {
    let nextMs = everyMs;
    try {
      const { newest, isPending } = await look();
      if (isPending) nextMs = Math.min(pendingMs, everyMs);
      if (newest !== known) for (const onMore of followers) onMore();
      known = newest;
    } catch {
      // A database that is away is looked at again; whoever reads of it is told.
    }
    schedule(nextMs);
  }

  async function lookAsHinted(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    while (isHinted && followers.size > 0) {
      isHinted = false;
      await lookOnce();
      await wait(restMs, undefined, { ref: false });
    }
    isLooking = false;
  }

  function schedule(ms: number): void {
    clearTimeout(timer);
    timer = followers.size > 0 ? setTimeout(hint, ms).unref() : undefined;
  }

  function hint(): void {
    if (followers.size === 0) return;
    isHinted = true;
    void lookAsHinted();
  }

  function stop(): void {
    followers.clear();
    clearTimeout(timer);
    stopListening?.();
    stopListening = undefined;
  }

  return {
    hint,
    stop,
    follow(onMore: () => void): () => void {
      // The same function may follow twice, and end once.
      const own = () => onMore();
      followers.add(own);
      if (followers.size === 1) {
        known = undefined;
        stopListening = listen?.(hint);
      }
      hint();
      return () => {
        if (followers.delete(own) && followers.size === 0) stop();
      };
    },
  };
}
