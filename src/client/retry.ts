import { KeyfrontError, type KeyfrontErrorCode } from './errors.js';

const minDelayMs = 250;
const maxDelayMs = 15_000;
/** The number of RATE_LIMITED responses in a row after which a retry does not help: an invalid credential stays invalid. */
const maxRejections = 5;
/** Errors after which a retry can succeed. */
const transientCodes: ReadonlySet<KeyfrontErrorCode> = new Set(['UNAVAILABLE', 'UNREACHABLE', 'RATE_LIMITED']);

/** Decides about retries of one operation. */
export interface Retries {
  /** Notes a success, after which failures count anew. */
  readonly reset: () => void;
  /**
   * Waits before the next attempt, longer after each failure. Also resolves when the signal is aborted.
   *
   * @throws the error, if it is permanent
   */
  readonly after: (error: unknown) => Promise<void>;
}

/** Creates the retries of an operation. Errors that are not of the service, such as a lost connection, are transient. */
export function createRetries(signal?: AbortSignal): Retries {
  let failures = 0;
  let rejections = 0;
  return {
    reset: () => {
      failures = 0;
      rejections = 0;
    },
    after: (error) => {
      let delayMs = Math.min(minDelayMs * 2 ** failures, maxDelayMs) * (0.5 + Math.random() / 2);
      failures += 1;
      if (error instanceof KeyfrontError) {
        if (error.code === 'RATE_LIMITED') rejections += 1;
        if (!transientCodes.has(error.code) || rejections >= maxRejections) return Promise.reject(error);
        delayMs = Math.max(delayMs, (error.retryAfterSeconds ?? 0) * 1000);
      }
      return wait(delayMs, signal);
    },
  };
}

/** Makes attempts until one succeeds, an error is permanent, or the signal is aborted. @throws the error */
export async function retried<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const retries = createRetries(signal);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || !(error instanceof KeyfrontError)) throw error;
      await retries.after(error);
    }
  }
}

/** Resolves after the time, or when the signal is aborted. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
