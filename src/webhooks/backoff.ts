/** What the answers of a receiver say about the receiver itself, and not about one key. */
export interface Backoff {
  readonly succeeded: () => void;
  /** `askedMs`: for how long it wants to be left alone. */
  readonly failed: (keyHash: string, askedMs: number | undefined) => void;
  /** Whether so many keys have failed one after the other that nothing new should be begun. */
  readonly isDown: () => boolean;
  /** For how long nothing at all should be sent. */
  readonly waitMs: () => number;
}

/** The longest that one answer keeps all keys waiting. */
const longestMs = 3_600_000;

export function createBackoff(keysOfOutage: number, clockMs: () => number): Backoff {
  const failed = new Set<string>();
  let untilMs = 0;
  return {
    succeeded: () => failed.clear(),
    failed(keyHash, askedMs) {
      failed.add(keyHash);
      if (askedMs !== undefined) untilMs = Math.max(untilMs, clockMs() + Math.min(askedMs, longestMs));
    },
    isDown: () => failed.size >= keysOfOutage,
    waitMs: () => Math.max(0, untilMs - clockMs()),
  };
}
