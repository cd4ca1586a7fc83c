import type { Logger } from '../../lib/log.js';
import type { Meter } from '../../telemetry/ports.js';

/** The bounds of what is begun at a time, and of what waits to be. */
export interface Bounds {
  /** For how long work is begun before the event loop gets to look at what came in, health checks among it. */
  readonly turnMs: number;
  /** How many pieces may wait in line. */
  readonly mostWaiting: number;
  /** How long the first in line may have waited while others still join it. */
  readonly longestWaitMs: number;
}

// An update takes a millisecond or two, so that the last of a full line is answered within about a second.
const usual: Bounds = { turnMs: 10, mostWaiting: 500, longestWaitMs: 2_000 };

/** Begins a piece of work, now or after those that wait, or refuses it at once. */
export type Admit = (begin: () => void, refuse: () => void) => void;

interface Waiting {
  readonly begin: () => void;
  readonly since: number;
}

const mostPlanned = 16;

/**
 * Work is begun at once while there is little of it. Where there is more, it waits in line, and each turn of the event
 * loop begins some of it, so that whatever is asked meanwhile is seen soon; where the line is long or slow, it is refused.
 */
export function createAdmission({ turnMs, mostWaiting, longestWaitMs }: Bounds = usual, meter?: Meter): Admit {
  const line: Waiting[] = [];
  meter?.registerGauge('requests_waiting', () => line.length);
  let planned = 0;
  let arriving: number | undefined;
  let arrivalsMs = 0;
  let turn: { since: number; untilMs: number } | undefined;

  /** Begins one that waits, unless this turn has had its time: then the next goes on. */
  function next(): void {
    planned -= 1;
    const now = performance.now();
    if (turn === undefined) {
      // What is refused costs time too. However much of it comes in, what was admitted gets as much.
      turn = { since: now, untilMs: Math.max(turnMs, arriving === undefined ? arrivalsMs : now - arriving) };
      arrivalsMs = 0;
      setImmediate(() => {
        turn = undefined;
      });
    }
    if (now - turn.since <= turn.untilMs) line.shift()?.begin();
    plan();
  }

  function plan(): void {
    for (; planned < Math.min(line.length, mostPlanned); planned += 1) setImmediate(next);
  }

  return (begin, refuse) => {
    const now = performance.now();
    if (arriving === undefined) {
      arriving = now;
      setImmediate(() => {
        arrivalsMs = performance.now() - now;
        arriving = undefined;
      });
    }
    const [first] = line;
    if (first === undefined && now - arriving < turnMs) return begin();
    if (line.length >= mostWaiting || (first && now - first.since > longestWaitMs)) return refuse();
    line.push({ begin, since: now });
    plan();
  };
}

const warnEveryMs = 10_000;

/** Tells the log that requests are refused and how many, in one line every ten seconds and not in one for each. */
export function createOverloadWarning(log: Logger): () => void {
  let refused = 0;
  return () => {
    refused += 1;
    if (refused > 1) return;
    log.warn('overloaded: requests are refused');
    setTimeout(() => {
      log.warn({ refused }, 'requests refused in the last ten seconds');
      refused = 0;
    }, warnEveryMs).unref();
  };
}
