import type { ReadBudget } from '../keys/read-budget.js';
import type { Scheduler } from '../lib/scheduler.js';

/** Divides synchronous work of many requests, so that the event loop serves all others in between. */
export type TimeSlices = Pick<Scheduler, 'next'>;

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
