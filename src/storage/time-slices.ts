import type { ReadBudget } from '../keys/read-budget.js';
import type { Scheduler } from '../lib/scheduler.js';

/** Divides synchronous work of many requests, so that the event loop serves all others in between. */
export type TimeSlices = Pick<Scheduler, 'next' | 'nextStage'>;

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
