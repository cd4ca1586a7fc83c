// A disk with slower syncs than this machine's, for any number of processes.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canPreload, compileLibrary } from '../faults/disk/compiler.mjs';
import { nodeCommand } from './process.mjs';

/** Whether this machine can simulate slow syncs: requires Linux and a C compiler. */
export const hasSlowSyncs = canPreload;

/** Compiles `slow-sync.c` into a folder. Initially, syncs are not slower. */
export function createSlowSyncs(/** @type {string} */ folder) {
  const library = join(folder, 'slow-sync.so');
  compileLibrary(new URL('slow-sync.c', import.meta.url).pathname, library);
  const control = join(folder, 'slow-sync');
  const file = openSync(control, 'w');
  lengthen(0);
  /** Environment for a process with its data folder in KEYFRONT_DATA. */
  const env = { LD_PRELOAD: library, SLOW_SYNC: control };

  /** Sets the additional duration of each sync, also in running processes. */
  function lengthen(/** @type {number} */ us) {
    writeSync(file, new BigUint64Array([BigInt(us)]), 0, 8, 0);
  }

  return {
    env,
    lengthen,
    /** Measures the duration and the CPU time of a sync in a process with this data folder, in microseconds. */
    measure: (
      /** @type {string} */ data,
      /** @type {string} */ path,
      /** @type {{ count: number, cpus?: string | undefined }} */ { count, cpus },
    ) => {
      const script = `import { syncTime } from ${JSON.stringify(new URL('sync-time.mjs', import.meta.url))};
        const before = process.cpuUsage();
        const us = syncTime(process.argv[1], ${count});
        const { user, system } = process.cpuUsage(before);
        console.log(JSON.stringify({ us, cpuUs: (user + system) / ${count} }));`;
      const { file, args } = nodeCommand(cpus, ['--input-type=module', '--eval', script, path]);
      const output = execFileSync(file, args, {
        env: { ...env, PATH: process.env.PATH, KEYFRONT_DATA: data },
        encoding: 'utf8',
      });
      return /** @type {{ us: number, cpuUs: number }} */ (JSON.parse(output));
    },
    close: () => closeSync(file),
  };
}
