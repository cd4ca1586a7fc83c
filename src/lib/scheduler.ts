/** Limits of the queue, in milliseconds and requests. */
export interface SchedulerLimits {
  /** How long one iteration of the event loop executes requests before it reads new ones, health checks included. */
  readonly sliceMs: number;
  /** New requests are rejected while this many wait, to start or to continue. */
  readonly maxWaiting: number;
  /** A request that has waited for longer is rejected instead of started. */
  readonly maxWaitMs: number;
  /** Requests that start together. While as many wait to continue, they start one by one. */
  readonly groupSize: number;
  /** No request starts while this many wait to continue, so that those that have started end soon. */
  readonly maxContinuing: number;
}

/** Work on a text of up to this length takes less than a millisecond: it needs no time slice of its own. */
export const largeText = 16 * 1024;

/** Waits until a request may go on to its next stage; see `Scheduler.nextStage`. */
export type NextStage = () => Promise<void>;

/** Starts a new request, at once or after those that wait, or rejects it. */
export type Admit = (start: () => void, reject: () => void) => void;

/** Divides the time of the event loop among requests, so that it serves all others in between. */
export interface Scheduler {
  /** Called for each new connection. */
  readonly connected: () => void;
  readonly admit: Admit;
  /**
   * Called by a request before each piece of work. Undefined while this iteration of the event loop has time left; else
   * resolves in one that has. Requests continue in the order of their calls.
   */
  readonly next: () => Promise<void> | undefined;
  /**
   * Called by a request between its stages. Resolves after the requests that wait, also while time is left: a group of
   * requests passes each stage together, and the processor executes the code of a stage many times in succession
   * (`docs/decisions/scheduling.md`).
   */
  readonly nextStage: NextStage;
  /** The number of requests that wait, to start or to continue. */
  readonly waiting: () => number;
}

// An update takes one or two milliseconds, so that the last request of a full queue starts within about a second.
const defaultLimits: SchedulerLimits = {
  sliceMs: 10,
  maxWaiting: 500,
  maxWaitMs: 2_000,
  groupSize: 16,
  maxContinuing: 64,
};

/**
 * Calls `end` in the next iteration of the event loop. `setImmediate` does so only for the code of an immediate: what a
 * request that was read begins would get a second slice in the same iteration.
 */
const afterImmediates = (end: () => void) => void setImmediate(() => setImmediate(end));

interface NewRequest {
  readonly start: () => void;
  readonly reject: () => void;
  readonly arrivedMs: number;
}

/** More than an iteration of the event loop executes in a slice, unless each piece of work takes microseconds. */
const maxScheduled = 128;
/** The maximum number of iterations in succession that accept new connections and execute nothing. */
const maxReads = 64;
/** The maximum length of a slice, in slices, however long the reading before it took. */
const maxSlices = 3;

/**
 * Creates the scheduler of a process.
 *
 * @param nowMs - a monotonic clock in milliseconds
 */
export function createScheduler(
  limits: Partial<SchedulerLimits> = {},
  nowMs: () => number = () => performance.now(),
): Scheduler {
  const { sliceMs, maxWaiting, maxWaitMs, groupSize, maxContinuing } = { ...defaultLimits, ...limits };
  const starting: NewRequest[] = [];
  const continuing: (() => void)[] = [];
  /** Whether this turn is of new requests, and how many are left of it. */
  let isStarting = false;
  let left = 0;
  let scheduled = 0;
  let sliceEndMs: number | undefined;
  /** When the first request arrived that is not executed in this slice. */
  let readFromMs: number | undefined;
  let hasConnected = false;
  /** For how many iterations nothing has been executed, because connections arrive. */
  let reads = 0;

  const waiting = () => starting.length + continuing.length;

  function hasTime(atMs: number, endLater: (end: () => void) => void): boolean {
    if (reads > 0) return false;
    if (sliceEndMs === undefined) {
      // Rejecting requests costs time too: those that are admitted get about as much.
      const readMs = atMs - (readFromMs ?? atMs);
      readFromMs = undefined;
      sliceEndMs = atMs + Math.min(Math.max(sliceMs, readMs), maxSlices * sliceMs);
      endLater(endSlice);
    }
    return atMs < sliceEndMs;
  }

  /**
   * Ends a slice. If requests wait, nothing is executed until an iteration of the event loop accepts no connection, for a
   * number of iterations at most: Node accepts one in each, so that clients would wait outside of the queue.
   */
  function endSlice(): void {
    reads = hasConnected && waiting() > 0 && reads < maxReads ? reads + 1 : 0;
    hasConnected = false;
    if (reads > 0) return void setImmediate(endSlice);
    sliceEndMs = undefined;
    schedule();
  }

  /**
   * Chooses what the next turn runs: all requests that wait to continue, or a group of new ones. A group is small enough to
   * end before the next one starts: larger groups would end later, and not take less time for each request.
   */
  function takeTurn(): void {
    const free = Math.max(groupSize - continuing.length, continuing.length < maxContinuing ? 1 : 0);
    isStarting = starting.length > 0 && free > 0 && (!isStarting || continuing.length === 0);
    left = isStarting ? Math.min(starting.length, free) : continuing.length;
  }

  function runNext(atMs: number): void {
    if (left === 0) takeTurn();
    left -= 1;
    if (!isStarting) return continuing.shift()?.();
    const next = starting.shift();
    if (next && atMs - next.arrivedMs > maxWaitMs) next.reject();
    else next?.start();
  }

  function runScheduled(): void {
    scheduled -= 1;
    const atMs = nowMs();
    // Without time left, `endSlice` continues.
    if (!hasTime(atMs, setImmediate)) return;
    runNext(atMs);
    schedule();
  }

  // What one piece of work resolves runs before the next immediate, so that its time counts.
  function schedule(): void {
    for (; scheduled < Math.min(waiting(), maxScheduled); scheduled += 1) setImmediate(runScheduled);
  }

  function nextStage(): Promise<void> {
    return new Promise((resolve) => {
      continuing.push(resolve);
      schedule();
    });
  }

  return {
    waiting,
    connected() {
      hasConnected = true;
    },
    admit(start, reject) {
      const arrivedMs = nowMs();
      if (waiting() === 0 && hasTime(arrivedMs, afterImmediates)) return start();
      readFromMs ??= arrivedMs;
      if (waiting() >= maxWaiting) return reject();
      starting.push({ start, reject, arrivedMs });
      schedule();
    },
    next() {
      return continuing.length === 0 && hasTime(nowMs(), afterImmediates) ? undefined : nextStage();
    },
    nextStage,
  };
}
