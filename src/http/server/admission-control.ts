import type { Logger } from '../../lib/log.js';
import type { Meter } from '../../telemetry/ports.js';

/** Limits of the queue, in milliseconds and requests. */
export interface AdmissionLimits {
  /** How long one iteration of the event loop starts requests before it reads new ones, health checks included. */
  readonly sliceMs: number;
  /** Maximum number of waiting requests. */
  readonly maxWaiting: number;
  /** New requests are rejected while the first request in the queue has waited for longer. */
  readonly maxWaitMs: number;
}

// An update takes one or two milliseconds, so that the last request of a full queue starts within about a second.
const defaultLimits: AdmissionLimits = { sliceMs: 10, maxWaiting: 500, maxWaitMs: 2_000 };

/** Starts a request at once or after the requests that wait, or rejects it. */
export type Enqueue = (start: () => void, reject: () => void) => void;

interface WaitingRequest {
  readonly start: () => void;
  readonly enqueuedMs: number;
}

const maxScheduled = 16;

/**
 * A bounded queue of requests. While there are few requests, each starts at once. Otherwise requests wait, and each
 * iteration of the event loop starts some of them. A full or slow queue rejects new requests.
 */
export function createAdmissionControl(
  { sliceMs, maxWaiting, maxWaitMs }: AdmissionLimits = defaultLimits,
  meter?: Meter,
): Enqueue {
  const queue: WaitingRequest[] = [];
  meter?.registerGauge('requests_waiting', () => queue.length);
  let scheduled = 0;
  /** When this iteration of the event loop read its first request. */
  let arrivalsStartedMs: number | undefined;
  /** How long the last iteration spent on arrivals. */
  let arrivalsMs = 0;
  let slice: { readonly startedMs: number; readonly durationMs: number } | undefined;

  /** Starts the next request, or leaves it to the next iteration if this one has used its time slice. */
  function startNext(): void {
    scheduled -= 1;
    const now = performance.now();
    if (slice === undefined) {
      // Rejecting costs CPU too: per iteration, admitted requests get at least as much time as arrivals took.
      const lastArrivalsMs = arrivalsStartedMs === undefined ? arrivalsMs : now - arrivalsStartedMs;
      slice = { startedMs: now, durationMs: Math.max(sliceMs, lastArrivalsMs) };
      arrivalsMs = 0;
      setImmediate(() => {
        slice = undefined;
      });
    }
    if (now - slice.startedMs <= slice.durationMs) queue.shift()?.start();
    schedule();
  }

  function schedule(): void {
    for (; scheduled < Math.min(queue.length, maxScheduled); scheduled += 1) setImmediate(startNext);
  }

  return (start, reject) => {
    const now = performance.now();
    if (arrivalsStartedMs === undefined) {
      arrivalsStartedMs = now;
      setImmediate(() => {
        arrivalsMs = performance.now() - now;
        arrivalsStartedMs = undefined;
      });
    }
    const [first] = queue;
    if (first === undefined && now - arrivalsStartedMs < sliceMs) return start();
    if (queue.length >= maxWaiting || (first && now - first.enqueuedMs > maxWaitMs)) return reject();
    queue.push({ start, enqueuedMs: now });
    schedule();
  };
}

const logIntervalMs = 10_000;

/** Logs that requests are rejected, and how many: two lines per ten seconds instead of one per request. */
export function createOverloadLog(log: Logger): () => void {
  let rejected = 0;
  return () => {
    rejected += 1;
    if (rejected > 1) return;
    log.warn('overloaded: requests are rejected');
    setTimeout(() => {
      log.warn({ rejected }, 'requests rejected in the last ten seconds');
      rejected = 0;
    }, logIntervalMs).unref();
  };
}
