/** Detects an outage of a receiver, as opposed to failures of one key. */
export interface CircuitBreaker {
  /** Closes the circuit breaker. */
  readonly recordSuccess: () => void;
  /**
   * Counts a key once.
   *
   * @param requestedPauseMs - the `Retry-After` of a 429 or 503 response
   */
  readonly recordFailure: (keyHash: string, requestedPauseMs: number | undefined) => void;
  /** Whether so many different keys failed without a success between them that new events wait. */
  readonly isOpen: () => boolean;
  /** Milliseconds that remain of the pause that the receiver requested; 0 if there is none. */
  readonly remainingPauseMs: () => number;
}

/** Failures of this many different keys without a success count as an outage. */
const failedKeysOfOutage = 16;
/** Maximum pause that one response can request. */
const maxPauseMs = 3_600_000;

/** Creates a closed circuit breaker. */
export function createCircuitBreaker(): CircuitBreaker {
  const failed = new Set<string>();
  /** By the monotonic clock: the pause does not grow when the clock is set back. */
  let untilMs = 0;
  return {
    recordSuccess: () => failed.clear(),
    recordFailure(keyHash, requestedPauseMs) {
      failed.add(keyHash);
      if (requestedPauseMs === undefined) return;
      untilMs = Math.max(untilMs, performance.now() + Math.min(requestedPauseMs, maxPauseMs));
    },
    isOpen: () => failed.size >= failedKeysOfOutage,
    remainingPauseMs: () => Math.max(0, untilMs - performance.now()),
  };
}
