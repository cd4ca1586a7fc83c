import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import type { Process } from '../support/process.js';
import type { Finding } from './kit/compare.js';
import { inspect, inspectSecrets } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { hasRemovedDraft, ringIDs } from './kit/ring.js';
import { killNow, launch, portOf } from './kit/service.js';
import { importKeys, marked, type FaultRun, type Workspace } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Rotates the keys that seal secrets while clients change keys, and kills the rotation again and again, and now and then
 * the service too. One that is left alone must finish the work, and after it no older key may be needed any more.
 */

/** The mutant runs the rotation and the pruning, not the service. */
interface RotationRun extends FaultRun {
  readonly kills: number;
}

type Command = (...args: string[]) => Process;

/** Longer than a command takes to begin on a machine that is not busy. */
const beginsWithinMs = 1_000;
/** Makes a rotation long enough to be killed in the midst of its work. */
const moreKeys = 300;
const serviceKillEvery = 3;
/** What it takes to seal some of them. */
const workMs = 400;
const maxBusy = 20;

export async function rotateUnderKills({ main, workspace, seed, kills, mutant }: RotationRun): Promise<Report> {
  const report = startReport('kill -9 during a rotation under load', seed);
  const random = createRandom(seed);
  const where = `FUZZ_SEED=${seed} ROTATION_KILLS=${kills}`;
  const folder = await workspace.fresh('rotation');
  const { data } = folder;
  await importMore(workspace, data);
  const ledger: Entry[] = [];
  const command: Command = (...args) => launch({ main, data, args, mutant });

  const serve = async (number: number) => {
    const service = launch({ main, data });
    const port = await portOf(service);
    const load = { port, folder, seed: seed + number, name: `r${number}`, ledger, writers: 4 };
    return { service, writing: startWriting(load) };
  };
  let serving = await serve(0);
  let startMs = 300;
  let keysInRing = 1;
  let drafts = 0;

  for (let kill = 1; kill <= kills; kill += 1) {
    report.addCase();
    const rotation = command('secrets', 'rotate');
    // One in four dies before it has done much, the others while they seal. Only the first adds a key to the ring: the
    // others continue it.
    if (random.below(4) === 0 && kill > 1) await wait(random.below(startMs));
    else {
      if (keysInRing === 1) await Promise.race([ringBeyond(data, keysInRing), rotation.exited]);
      else await Promise.race([wait(beginsWithinMs), rotation.exited]);
      await wait(random.below(workMs));
    }
    await killNow(rotation);
    if (await hasRemovedDraft(data, rotation.stderr())) drafts += 1;
    keysInRing = (await ringIDs(data)).length;
    if (kill % serviceKillEvery === 0) {
      await killNow(serving.service);
      await serving.writing.over;
      report.addFindings(await inspect(data, ledger), where);
      startMs = await duration(async () => {
        serving = await serve(kill);
      });
    }
  }

  for (let attempt = 1; ; attempt += 1) {
    const { code, stderr } = await complete(command, 'rotate');
    if (code === 0) break;
    if (!(await hasRemovedDraft(data, stderr)) || attempt === 3) {
      report.addFindings([{ kind: 'wrong response', what: `the last rotation failed: ${stderr}` }], where);
      break;
    }
    drafts += 1;
  }
  await serving.writing.stop();
  serving.service.kill('SIGTERM');
  await serving.service.exited;

  keysInRing = (await ringIDs(data)).length;
  report.addFindings(await pruned(data, command), where);
  report.addFindings([...(await inspect(data, ledger)), ...(await secretsFindings(data))], where);
  report.addLedger(ledger, where);
  if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
  return report.end({ keysInRing, drafts });
}

async function importMore(workspace: Workspace, data: string): Promise<void> {
  const file = join(workspace.folder, 'more.jsonl');
  const more = { ...marked, jwt_data: { secret: 'jwt' } };
  await importKeys(
    data,
    file,
    Array.from({ length: moreKeys }, (_, index) => ({ key_id: `more-${index}`, ...more })),
  );
}

/** Resolves when the ring has more keys than that: from then on everything is sealed under a new one. */
async function ringBeyond(data: string, keys: number): Promise<void> {
  while ((await ringIDs(data)).length <= keys) await wait(5);
}

/** Runs a command, and again if the writes of the clients prevented it for as long as a command waits. */
async function complete(command: Command, name: 'rotate' | 'prune'): Promise<{ code: number | null; stderr: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const running = command('secrets', name);
    const { code } = await running.exited;
    const stderr = running.stderr();
    if (attempt === maxBusy || !stderr.includes('Storage is busy')) return { code, stderr };
  }
}

async function duration(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return Math.round(performance.now() - began);
}

/**
 * After the pruning one key is left in the ring, so that every readable secret is sealed with it. A change that was
 * committed during the last rotation may use an older one; pruning fails then, and its error states what to do.
 */
async function pruned(data: string, command: Command): Promise<Finding[]> {
  let { code, stderr } = await complete(command, 'prune');
  if (stderr.includes('Run `keyfront secrets rotate` first')) {
    await complete(command, 'rotate');
    ({ code, stderr } = await complete(command, 'prune'));
  }
  const left = await ringIDs(data);
  if (code === 0 && left.length === 1) return [];
  return [{ kind: 'wrong response', what: `pruning left ${left.join(', ')}: ${stderr}` }];
}

async function secretsFindings(data: string): Promise<Finding[]> {
  try {
    return await inspectSecrets(data);
  } catch (error) {
    return [{ kind: 'lost', what: `secrets cannot be read any more: ${String(error)}` }];
  }
}
