import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { wrongResponses } from './kit/compare.js';
import { overGranted, repeatUnanswered, startVerifying } from './kit/gateway-writers.js';
import { inspect, inspectSecrets } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { addKeysOfMany, changeWithoutFaults, startWritingMany } from './kit/many-writers.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Kills the service again and again, while it serves and while it starts, and looks each time whether the database is
 * what the clients know. What the kill leaves behind is what the next start has to recover.
 */

/** After so many kills the folder is a new one, so that its history stays short and a seed brings few of them back. */
const killsPerFolder = 20;

interface KillRun extends FaultRun {
  readonly cycles: number;
}

/** Ends early where something is found. */
export async function killUnderLoad({ main, workspace, seed, cycles, mutant }: KillRun): Promise<Report> {
  const report = startReport('kill -9 under load and during starts', seed);
  let duringStart = 0;
  for (let first = 0; first < cycles && report.found() === 0; first += killsPerFolder) {
    const folderSeed = seed + first;
    const random = createRandom(folderSeed);
    const folder = await workspace.fresh(`kill-${first}`);
    await addKeysOfMany(folder, workspace.folder);
    const ledger: Entry[] = [];
    const where = `FUZZ_SEED=${folderSeed} KILL_CYCLES=${killsPerFolder}`;
    const look = async () => {
      const found = [
        ...(await inspect(folder.data, ledger)),
        ...(await inspectSecrets(folder.data)),
        ...wrongResponses(ledger),
        ...overGranted(ledger),
      ];
      report.addFindings(found, where);
      if (found.length > 0 && mutant === undefined) await workspace.keep(ledger);
    };
    let startMs = 500;
    for (let cycle = first; cycle < Math.min(first + killsPerFolder, cycles) && report.found() === 0; cycle += 1) {
      report.addCase();
      const began = performance.now();
      const service = launch({ main, data: folder.data, mutant });
      if (random.below(5) === 0) {
        duringStart += 1;
        await wait(random.below(startMs));
        await killNow(service);
        continue;
      }
      const port = await portOf(service);
      startMs = Math.round(performance.now() - began);
      // It has recovered from the previous kill by itself; nothing writes while the database is inspected.
      await look();
      await repeatUnanswered({ port, folder, ledger });
      const load = { port, folder, seed: folderSeed + cycle, name: `c${cycle}`, ledger };
      const writings = [startWriting(load), startWritingMany(load), startVerifying(load)];
      await Promise.all(writings.map(({ begun }) => begun));
      await wait(20 + random.below(380));
      await killNow(service);
      await Promise.all(writings.map(({ over }) => over));
    }
    if (report.found() === 0) {
      const service = launch({ main, data: folder.data, mutant });
      const port = await portOf(service);
      await repeatUnanswered({ port, folder, ledger });
      await changeWithoutFaults({ port, folder, name: `f${first}`, ledger });
      await killNow(service);
    }
    await look();
    report.addLedger(ledger, where);
  }
  return report.end({ duringStart });
}
