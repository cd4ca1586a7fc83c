import { createScheduler, type Scheduler } from '../../src/lib/scheduler.js';

/** Counts how often `work`, which takes longer than a time slice, is done in one turn of the event loop. */
export function countInTurns(): { readonly slices: Scheduler; work(): void; most(): number } {
  let nowMs = 0;
  let inTurn = 0;
  let most = 0;
  const endTurn = () => void (inTurn = 0);
  return {
    slices: createScheduler({}, () => nowMs),
    work() {
      nowMs += 11;
      inTurn += 1;
      most = Math.max(most, inTurn);
      setImmediate(endTurn);
    },
    most: () => most,
  };
}
