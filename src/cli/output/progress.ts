import type { IO } from '../io.js';
import { countOf } from './count.js';

/** Progress on standard error: one line that changes on a terminal, otherwise a line every five seconds. */
export interface ProgressLine {
  /** @param fraction - completed share of the work, 0 to 1; undefined if unknown */
  readonly show: (count: number, fraction?: number) => void;
  /** Clears the line of the terminal. */
  readonly end: () => void;
}

const terminalIntervalMs = 100;
const logIntervalMs = 5_000;
/** A rate over a shorter time is not reliable. */
const minRateMs = 1_000;

/** Creates progress that shows the count, the rate, the percentage and the remaining time. */
export function createProgressLine(io: IO, plural: string): ProgressLine {
  const now = io.nowMs ?? Date.now;
  const startMs = now();
  const intervalMs = io.isStderrTTY ? terminalIntervalMs : logIntervalMs;
  let shownMs = io.isStderrTTY ? -Infinity : startMs;
  return {
    show: (count, fraction) => {
      if (now() - shownMs < intervalMs) return;
      shownMs = now();
      const text = `${countOf(count, plural)}${formatRate(count, fraction, shownMs - startMs)}`;
      io.stderr(io.isStderrTTY ? `\r${text} …\u001b[K` : `${text}\n`);
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
