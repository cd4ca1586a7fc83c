import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { diskEnv } from './disk/library.js';
import type { Finding } from './kit/compare.js';
import { inspect, inspectSecrets } from './kit/inspect.js';
import { countOf, type Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { changeRing, hasRemovedDraft } from './kit/ring.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * One fault in the middle of another: the recovery from a kill is killed, and the recovery from that; likewise a rotation
 * of the key ring.
 */

interface CompoundRun extends FaultRun {
  readonly library: string;
  readonly runs: number;
}

/** Starts and short commands make some dozens to hundreds of calls; one that makes fewer is not killed. */
const maxCalls = { start: 60, rotation: 250 };

export async function compound(run: CompoundRun): Promise<Report> {
  const { main, workspace, library, seed, runs, mutant } = run;
  const report = startReport('kill -9 during what follows kill -9', seed);
  let kills = 0;

  for (let number = 0; number < runs && report.found() === 0; number += 1) {
    const random = createRandom(seed + number);
    const where = `FUZZ_SEED=${seed + number} COMPOUND_RUNS=1`;
    /** Kills a process before one of its first calls to the disk, where it comes to that. */
    const killIn = async (data: string, calls: number, ...args: string[]) => {
      const env = diskEnv(library, data, { fault: { what: 'KILL', at: 1 + random.below(calls) } });
      const running = launch({ main, data, args, mutant, env });
      // A start that gets through serves, and is killed then.
      if ((await running.listening) !== undefined) running.kill('SIGKILL');
      if ((await running.exited).signal === 'SIGKILL') kills += 1;
      await hasRemovedDraft(data, running.stderr());
    };

    const folder = await workspace.fresh(`compound-${number}`);
    const ledger: Entry[] = [];
    for (const life of [1, 2]) {
      const service = launch({ main, data: folder.data, mutant });
      const load = { port: await portOf(service), folder, seed: seed + number, name: `x${life}`, ledger };
      const writing = startWriting(load);
      while (countOf(ledger, 'ok') < life * 30) await wait(5);
      await wait(random.below(100));
      await killNow(service);
      await writing.over;
      kills += 1;
      for (let again = random.below(3); again >= 0; again -= 1) await killIn(folder.data, maxCalls.start);
      await killIn(folder.data, maxCalls.rotation, 'secrets', 'rotate');
      await killIn(folder.data, maxCalls.start);
      report.addFindings([...(await inspect(folder.data, ledger)), ...(await inspectSecrets(folder.data))], where);
      if (report.found() > 0) break;
    }
    report.addFindings(await ringFindings(folder.data), where);
    report.addFindings(await inspect(folder.data, ledger), where);
    report.addLedger(ledger, where);
    if (mutant !== undefined) continue;
    report.addCase();
    if (report.found() > 0) await workspace.keep(ledger);
  }
  return report.end({ kills });
}

/** A rotation without faults completes the interrupted ones. */
async function ringFindings(data: string): Promise<Finding[]> {
  const rotated = await changeRing(data, 'secrets', 'rotate');
  const pruned = await changeRing(data, 'secrets', 'prune');
  if (rotated.code === 0 && pruned.code === 0) return [];
  return [
    { kind: 'wrong response', what: `the key ring cannot be changed any more: ${rotated.stderr}${pruned.stderr}` },
  ];
}
