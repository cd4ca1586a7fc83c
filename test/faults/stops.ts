import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import type { Finding } from './kit/compare.js';
import { inspect } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { launch, portOf, stopWithin } from './kit/service.js';
import type { Process } from '../support/process.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Stops the service (SIGTERM) while many clients send requests. Each accepted request must get a response: those
 * sent before the signal, and those whose change is in the database afterwards. Later ones may be rejected.
 */

const writers = 16;
const stopsPerFolder = 20;
const stopWithinMs = 10_000;

/** What is sent so shortly before the signal may arrive after it: the client and the service are two processes. */
const underWayMs = 5;

interface StopRun extends FaultRun {
  readonly stops: number;
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

      const withoutResponse = entries.filter(({ response }) => response === 'no response');
      turnedAway += withoutResponse.length;
      report.addFindings(sentBefore(requested - underWayMs, withoutResponse), where);
      // A change without a response is found as a rejected request that wrote.
      ledger.push(
        ...entries.map((entry) =>
          withoutResponse.includes(entry) ? { ...entry, outcome: 'rejected' as const } : entry,
        ),
      );
      report.addFindings(await inspect(folder.data, ledger), where);
    }
    report.addLedger(ledger, where);
    if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
  }
  return report.end({ turnedAway, slowestMs });
}

async function stopFindings(service: Process): Promise<Finding[]> {
  const { code, signal } = await stopWithin(service, stopWithinMs);
  if (code === 0) return [];
  return [
    { kind: 'wrong response', what: `the process ended with ${signal ?? `exit code ${code}`}: ${service.stderr()}` },
  ];
}

function sentBefore(moment: number, withoutResponse: readonly Entry[]): Finding[] {
  return withoutResponse
    .filter(({ sent }) => sent < moment)
    .map(({ mark, sent }) => ({
      kind: 'wrong response',
      what: `${mark} was sent ${Math.round(moment - sent)} ms before SIGTERM, and got no response`,
    }));
}
