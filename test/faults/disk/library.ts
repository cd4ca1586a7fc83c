import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { canPreload, compileLibrary } from './compiler.mjs';

/** Whether this machine can put our disk between a process and its own. */
export const hasDisk = canPreload;

/** For the names of tests: why they are skipped, where they are. */
export const unlessDisk = hasDisk ? '' : ' (skipped: needs Linux and a C compiler)';

/** Compiles `disk.c` into a folder and returns the path of the library. */
export function compileDisk(folder: string): string {
  const library = join(folder, 'disk.so');
  compileLibrary(new URL('./disk.c', import.meta.url).pathname, library);
  return library;
}

export interface Fault {
  /** COUNT lets nothing fail, and reports each call that could. */
  readonly what: 'EIO' | 'ENOSPC' | 'KILL' | 'COUNT';
  readonly at: number;
  readonly forever?: boolean;
}

export interface DiskPlan {
  /** Appends to this file what is written, synced, renamed and sent. */
  readonly record?: string;
  /** Which call fails, and how; `disk.c` defines what counts. */
  readonly fault?: Fault;
  /** Appends to this file which calls have failed, and how many there were. */
  readonly report?: string;
}

/** The environment of a process that is to work on our disk. The data folder exists. */
export function diskEnv(library: string, data: string, { record, fault, report }: DiskPlan): Record<string, string> {
  return {
    LD_PRELOAD: library,
    DISK_FOLDER: realpathSync(data),
    ...(record !== undefined && { DISK_RECORD: record }),
    ...(fault && { DISK_FAULT: `${fault.what} ${fault.at} ${fault.forever === true ? 'forever' : 'once'}` }),
    ...(report !== undefined && { DISK_REPORT: report }),
  };
}
