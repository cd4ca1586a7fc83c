import type { ReadBudget } from '../keys/read-budget.js';

/** Divides synchronous work of many requests, so that the event loop serves all others in between. */
export interface TimeSlices {
  /** Undefined while this iteration of the event loop has time left for such work; else resolves in one that has. */
  readonly next: () => Promise<void> | undefined;
}

/** Work in steps, each of which takes milliseconds at most. Behind each `yield`, other requests may be served. */
export type Steps<T> = Generator<undefined, T>;

/** The result of work that is not interrupted. */
export function atOnce<T>(work: Steps<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** The result of work each step of which has a time slice. */
export async function inSlices<T>(slices: TimeSlices, work: Steps<T>): Promise<T> {
  for (;;) {
    const slice = slices.next();
    if (slice) await slice;
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Maps items and lets other requests run in between: a large key takes milliseconds to verify and to parse. */
export async function mapInSlices<Item, Made>(
  slices: TimeSlices,
  items: Iterable<Item>,
  make: (item: Item) => Made,
  reads?: ReadBudget,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) {
    const slice = slices.next();
    if (slice) await slice;
    reads?.requireTime();
    made.push(make(item));
  }
  return made;
}

const defaultSliceMs = 10;
const maxScheduled = 16;

/** Work that is about to begin calls `next` and awaits the result. Requests continue in the order of their calls. */
export function createTimeSlices(sliceMs = defaultSliceMs, now: () => number = () => performance.now()): TimeSlices {
  const waiting: (() => void)[] = [];
  let scheduled = 0;
  let sliceBegan: number | undefined;

  function hasTime(): boolean {
    const nowMs = now();
    if (sliceBegan === undefined) {
      sliceBegan = nowMs;
      setImmediate(() => {
        sliceBegan = undefined;
      });
    }
    return nowMs - sliceBegan < sliceMs;
  }

  function resume(): void {
    scheduled -= 1;
    if (hasTime()) waiting.shift()?.();
    schedule();
  }

  function schedule(): void {
    for (; scheduled < Math.min(waiting.length, maxScheduled); scheduled += 1) setImmediate(resume);
  }

  return {
    next() {
      if (waiting.length === 0 && hasTime()) return undefined;
      return new Promise((resolve) => {
        waiting.push(resolve);
        schedule();
      });
    },
  };
}
