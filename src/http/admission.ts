import type { Logger } from '../log.js';

/** The bounds of what is begun, and of what waits to be. */
export interface Bounds {
  /** For how long work is begun before the event loop gets to look at new requests, health checks among them. */
  readonly turnMs: number;
  /** How much may wait in line. */
  readonly mostWaiting: number;
  /** How long a piece may have waited to be begun at all: later, whoever asked for it has likely given up. */
  readonly longestWaitMs: number;
}

// An update takes about a millisecond, so that the last of a full line is answered within about one second.
const usual: Bounds = { turnMs: 10, mostWaiting: 1_000, longestWaitMs: 2_000 };

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
  readonly since: number;
}

/** Begins a piece of work, now or after those that wait, or refuses it. */
export type Admit = (begin: () => void, refuse: () => void) => void;

/**
 * Work is begun at once while there is little of it. Where there is more, it waits in line and is begun one piece a turn
 * of the event loop, so that what is asked meanwhile is seen; where the line is full or too slow, it is refused.
 */
export function createAdmission({ turnMs, mostWaiting, longestWaitMs }: Bounds = usual): Admit {
  const line: Waiting[] = [];
  const turnAge = createTurnClock();

  function next(): void {
    const first = line.shift();
    if (!first) return;
    if (line.length > 0) setImmediate(next);
    if (performance.now() - first.since > longestWaitMs) first.refuse();
    else first.begin();
  }

  return (begin, refuse) => {
    if (line.length === 0 && turnAge() < turnMs) return begin();
    if (line.length >= mostWaiting) return refuse();
    line.push({ begin, refuse, since: performance.now() });
    if (line.length === 1) setImmediate(next);
  };
}

/** For how many milliseconds the current turn of the event loop has been at what came in. */
function createTurnClock(): () => number {
  let began: number | undefined;
  return () => {
    const now = performance.now();
    if (began === undefined) {
      began = now;
      setImmediate(() => {
        began = undefined;
      });
    }
    return now - began;
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
