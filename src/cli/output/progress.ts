import type { IO } from '../io.js';

/** A progress line on the terminal. */
export interface ProgressLine {
  /** @param fraction how much of the work is done, 0 to 1; undefined if unknown */
  readonly show: (count: number, fraction?: number) => void;
  /** Clears the line. */
  readonly end: () => void;
}

const intervalMs = 100;
/** A rate that is measured over a shorter time is not reliable. */
const minRateMs = 1_000;

/** Creates a line that shows the count, the rate and the remaining time; prints nothing if standard error is no terminal. */
export function createProgressLine(io: IO, noun: string, now: () => number = Date.now): ProgressLine {
  const startMs = now();
  let shownMs = 0;
  return {
    show: (count, fraction) => {
      if (!io.isStderrTTY || now() - shownMs < intervalMs) return;
      shownMs = now();
      io.stderr(`\r${count.toLocaleString('en')} ${noun}${formatRate(count, fraction, shownMs - startMs)} …\u001b[K`);
    },
    end: () => {
      if (io.isStderrTTY) io.stderr('\r\u001b[K');
    },
  };
}

function formatRate(count: number, fraction: number | undefined, elapsedMs: number): string {
  if (elapsedMs < minRateMs) return '';
  const rate = `, ${Math.round((count * 1000) / elapsedMs).toLocaleString('en')} per second`;
  if (fraction === undefined || fraction <= 0 || fraction > 1) return rate;
  const remainingMs = (elapsedMs * (1 - fraction)) / fraction;
  return `${rate}, ${Math.floor(fraction * 100)} %, ${formatDuration(remainingMs)} left`;
}

function formatDuration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
