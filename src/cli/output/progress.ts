import type { IO } from '../io.js';

interface Progress {
  /** Tells how far the work is: a count and, where the whole is known, which part of it that is, from 0 to 1. */
  readonly show: (count: number, part?: number) => void;
  readonly end: () => void;
}

const everyMs = 100;
/** Before so much has passed, a rate says nothing. */
const rateAfterMs = 1_000;

/** A line that is written over as work proceeds, with its rate and what is left; nothing where nobody watches. */
export function createProgressLine(io: IO, noun: string, now: () => number = Date.now): Progress {
  const begun = now();
  let shown = 0;
  return {
    show: (count, part) => {
      if (!io.isStderrTTY || now() - shown < everyMs) return;
      shown = now();
      io.stderr(`\r${count.toLocaleString('en')} ${noun}${paceOf(count, part, shown - begun)} …\u001b[K`);
    },
    end: () => {
      if (io.isStderrTTY) io.stderr('\r\u001b[K');
    },
  };
}

function paceOf(count: number, part: number | undefined, passedMs: number): string {
  if (passedMs < rateAfterMs) return '';
  const rate = `, ${Math.round((count * 1000) / passedMs).toLocaleString('en')} a second`;
  if (part === undefined || part <= 0 || part > 1) return rate;
  return `${rate}, ${Math.floor(part * 100)} %, ${durationText((passedMs * (1 - part)) / part)} left`;
}

function durationText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
