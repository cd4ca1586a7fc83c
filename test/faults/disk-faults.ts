import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskEnv, type Fault } from './disk/library.js';
import { createClient } from './kit/client.js';
import type { Finding } from './kit/compare.js';
import { inspect } from './kit/inspect.js';
import type { Entry, Operation } from './kit/ledger.js';
import { sendOperation } from './kit/operation.js';
import { startReport, type Report } from './kit/report.js';
import { launch, stopWithin } from './kit/service.js';
import type { Process } from '../support/process.js';
import { evenly } from './kit/sizes.js';
import type { DataFolder, FaultRun } from './kit/workspace.js';

/*
 * Lets one write, sync or truncation of the database or its log fail, once or from then on, at every place of a short
 * life of the service: start, some changes through both faces, stop.
 */

const ways = [
  { what: 'EIO', forever: false },
  { what: 'EIO', forever: true },
  { what: 'ENOSPC', forever: false },
  { what: 'ENOSPC', forever: true },
] as const;

interface DiskFaultRun extends Omit<FaultRun, 'seed'> {
  readonly library: string;
  /** How many places at most are tried for each way of failing; besides, four times as many syncs fail once. */
  readonly points: number;
}

/** Runs side by side: they mostly wait for processes to start. */
const atOnce = 3;

/** The time limit for a process to end after SIGTERM. */
const stopWithinMs = 10_000;

export async function failDisk(run: DiskFaultRun): Promise<Report> {
  const report = startReport('EIO and ENOSPC', 0);
  const { failures } = await liveOnce(run, { what: 'COUNT', at: 0 }, 'count');
  const calls = Number(/calls (\d+)/.exec(failures)?.[1]);
  const syncs = [...failures.matchAll(/^(\d+) fsync /gm)].map(([, number]) => Number(number));
  const chosenSyncs = evenly(syncs.length, run.points * 4).flatMap((number) => syncs[number - 1] ?? []);
  const places = evenly(calls, run.points);
  const cases: Fault[] = [
    ...chosenSyncs.filter((at) => !places.includes(at)).map((at) => ({ what: 'EIO' as const, forever: false, at })),
    ...places.flatMap((at) => ways.map((way) => ({ ...way, at }))),
  ];
  let failedStarts = 0;
  let failedSyncs = 0;
  const work = async () => {
    for (let fault = cases.shift(); fault; fault = cases.shift()) {
      if (run.mutant !== undefined && report.found() > 0) return;
      const where = `${fault.what} at call ${fault.at}, ${fault.forever ? 'and ever after' : 'once'}`;
      const life = await liveOnce(run, fault, `${fault.what}-${fault.at}-${fault.forever ? 'forever' : 'once'}`);
      report.addCase();
      report.addFindings(life.findings, where);
      report.addLedger(life.ledger, where);
      if (!life.hasServed) failedStarts += 1;
      if (failedSync.test(life.failures)) failedSyncs += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return report.end({ callsInALife: calls, syncsInALife: syncs.length, failedStarts, failedSyncs });
}

interface Life {
  readonly ledger: readonly Entry[];
  readonly findings: readonly Finding[];
  readonly hasServed: boolean;
  /** What the disk has reported: a line for each failure. */
  readonly failures: string;
}

const failedSync = /^\d+ fsync /m;

const update = (keyID: string, mark: string): Operation => ({ kind: 'update', api: 'rest', keyID, mark, amount: 0 });

/** One by one, then several at once: the service may bring those to the disk together. */
const bursts: readonly (readonly Operation[])[] = [
  [update('own-0', 'd1')],
  [{ ...update('own-1', 'd2'), api: 'graphql' }],
  [
    { kind: 'create', api: 'graphql', keyID: 'new-d3', mark: 'd3', amount: 0 },
    { kind: 'consume', api: 'rest', keyID: 'quota', mark: 'd4', amount: 3 },
    update('own-0', 'd5'),
    update('own-1', 'd6'),
  ],
  [update('own-0', 'd7')],
];

async function liveOnce(run: DiskFaultRun, fault: Fault, name: string): Promise<Life> {
  const { main, workspace, library, mutant } = run;
  const folder = await workspace.fresh(name);
  const reportFile = join(workspace.folder, `${name}.report`);
  const env = diskEnv(library, folder.data, { fault, report: reportFile });
  const service = launch({ main, data: folder.data, mutant, env });
  const failures = async () => (existsSync(reportFile) ? await readFile(reportFile, 'utf8') : '');
  const hasFailedSync = async () => fault.what !== 'COUNT' && failedSync.test(await failures());

  const url = await service.listening;
  const ledger: Entry[] = [];
  const findings: Finding[] = [];
  if (!url) findings.push(...(await startFindings(service)));
  else {
    findings.push(...(await change(Number(url.port), folder, ledger, hasFailedSync)));
    findings.push(...(await stopFindings(service, await hasFailedSync())));
  }
  findings.push(...(await inspect(folder.data, ledger)));
  if (findings.length > 0 && mutant === undefined) await workspace.keep(ledger);
  else await rm(folder.data, { recursive: true });
  return { ledger, findings, hasServed: url !== undefined, failures: await failures() };
}

/** A start that fails reports the cause in one readable line and in its exit code. */
async function startFindings(service: Process): Promise<Finding[]> {
  const { code } = await service.exited;
  const stderr = service.stderr();
  if (code === 1 && stderr.trim() !== '' && !/\n\s+at /.test(stderr)) return [];
  return [{ kind: 'wrong response', what: `the start ended with exit code ${code}: ${stderr}` }];
}

/** Changes keys, burst by burst. */
async function change(
  port: number,
  folder: DataFolder,
  ledger: Entry[],
  hasFailedSync: () => Promise<boolean>,
): Promise<Finding[]> {
  const client = createClient(port);
  const findings: Finding[] = [];
  for (const burst of bursts) {
    const isTooLate = await hasFailedSync();
    const entries = await Promise.all(burst.map((operation) => sendOperation(client, folder, operation)));
    ledger.push(...entries);
    // After a failed sync the content of the disk is unknown: the kernel may have dropped the pages that it could not write.
    for (const { mark } of entries.filter(({ outcome }) => isTooLate && outcome === 'ok')) {
      findings.push({ kind: 'wrong response', what: `${mark} was acknowledged after a sync had failed` });
    }
  }
  client.close();
  return findings;
}

async function stopFindings(service: Process, hasFailedSync: boolean): Promise<Finding[]> {
  const { code, signal } = await stopWithin(service, stopWithinMs);
  // One that was at its end already, because of what had failed, may die of the signal.
  if (signal === 'SIGKILL') return [{ kind: 'wrong response', what: `the process did not end in ${stopWithinMs} ms` }];
  if (hasFailedSync && code === 0) {
    return [{ kind: 'wrong response', what: 'the process ended with exit code 0 although a sync had failed' }];
  }
  return [];
}
