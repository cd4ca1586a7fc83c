import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import type { Finding } from './kit/compare.js';
import { inspect } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { killNow, launch, portOf, type Process } from './kit/service.js';
import type { Workspace } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Asks the service to stop (SIGTERM) while many clients are at it. A request that it has taken must be answered: what was
 * sent before the signal, and whatever is found in the database afterwards. What comes later may be turned away.
 */

const writers = 16;
const stopsPerFolder = 20;
const stopWithinMs = 10_000;

/** What is sent so shortly before the signal may arrive after it: the client and the service are two processes. */
const underWayMs = 5;

export interface StopRun {
  readonly main: string;
  readonly workspace: Workspace;
  readonly seed: number;
  readonly stops: number;
  readonly mutant?: string;
  /** How the service is started; without a command it serves. */
  readonly args?: readonly string[];
}

/** Ends early where something is found. */
export async function stopUnderLoad({ main, workspace, seed, stops, mutant, args = [] }: StopRun): Promise<Report> {
  const report = startReport('SIGTERM under load', seed);
  let turnedAway = 0;
  let slowestMs = 0;
  for (let first = 0; first < stops && report.found() === 0; first += stopsPerFolder) {
    const random = createRandom(seed + first);
    const folder = await workspace.fresh(`stop-${args.length}-${first}`);
    const where = `FUZZ_SEED=${seed + first} STOPS=${stopsPerFolder}`;
    const ledger: Entry[] = [];
    for (let stop = first; stop < Math.min(first + stopsPerFolder, stops) && report.found() === 0; stop += 1) {
      report.addCase();
      const service = launch({ main, data: folder.data, mutant, args });
      const port = await portOf(service);
      const entries: Entry[] = [];
      const writing = startWriting({ port, folder, seed: seed + stop, name: `s${stop}`, ledger: entries, writers });
      await writing.begun;
      await wait(random.below(400));
      const requested = performance.now();
      report.addFindings(await stopFindings(service), where);
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - requested));
      await writing.over;

      const unanswered = entries.filter(({ response }) => response === 'unanswered');
      turnedAway += unanswered.length;
      report.addFindings(sentBefore(requested - underWayMs, unanswered), where);
      // What was done although nobody was told is found as a refusal that wrote.
      ledger.push(
        ...entries.map((entry) => (unanswered.includes(entry) ? { ...entry, outcome: 'rejected' as const } : entry)),
      );
      report.addFindings(await inspect(folder.data, ledger), where);
    }
    report.addLedger(ledger, where);
    if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
  }
  return report.end({ turnedAway, slowestMs });
}

async function stopFindings(service: Process): Promise<Finding[]> {
  service.kill('SIGTERM');
  const timeout = setTimeout(() => void killNow(service), stopWithinMs);
  const { code, signal } = await service.exited;
  clearTimeout(timeout);
  if (code === 0) return [];
  return [
    { kind: 'wrong answer', what: `the process ended with ${signal ?? `exit code ${code}`}: ${service.stderr()}` },
  ];
}

function sentBefore(moment: number, unanswered: readonly Entry[]): Finding[] {
  return unanswered
    .filter(({ sent }) => sent < moment)
    .map(({ mark, sent }) => ({
      kind: 'wrong answer',
      what: `${mark} was sent ${Math.round(moment - sent)} ms before the service was asked to stop, and never answered`,
    }));
}
