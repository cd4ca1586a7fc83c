import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import { createDisk, fates, type Fate } from './disk/disk.js';
import { diskEnv } from './disk/library.js';
import { readRecording, type DiskOperation } from './disk/recording.js';
import type { Finding } from './kit/compare.js';
import { inspect } from './kit/inspect.js';
import { countOf, type Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { launch, portOf } from './kit/service.js';
import { readStored } from './kit/stored.js';
import type { FaultRun } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/*
 * Records what the service does to its disk, from the first import on, and replays it up to a random moment at which the
 * power goes. What was not synced by then is dropped, or kept in part. Each image is opened as a data folder, and must
 * contain every change that had been acknowledged by that moment.
 */

export interface Recording {
  readonly steps: readonly DiskOperation[];
  readonly ledger: readonly Entry[];
  readonly file: string;
  /** The files as they were when the first life had ended, and after how many steps that was. */
  readonly rest?: { readonly steps: number; readonly files: ReadonlyMap<string, Buffer> };
}

interface RecordingRun extends FaultRun {
  readonly library: string;
  readonly name: string;
  /** How many; the first ends cleanly, each other with a kill. */
  readonly lives: number;
}

/** Changes acknowledged in each life of the service. Some hundred make SQLite move its log into the database once. */
const changesPerLife = 220;

/** Some lives of a service under load, and what comes before the first: an import, and credentials. */
export async function recordLives({
  main,
  workspace,
  library,
  seed,
  name,
  lives,
  mutant,
}: RecordingRun): Promise<Recording> {
  const file = join(workspace.folder, `${name}.recording`);
  const data = join(workspace.folder, name);
  await mkdir(data, { mode: 0o700 });
  const start = (args: string[], mutant?: string) =>
    launch({ main, data, args, mutant, env: diskEnv(library, data, { record: file }) });
  const command = async (...args: string[]) => {
    const running = start(args);
    const { code } = await running.exited;
    if (code !== 0) throw new Error(`keyfront ${args.join(' ')} failed: ${running.stderr()}`);
    return running.stdout().trim();
  };
  await command('keys', 'import', workspace.keysFile);
  const issue = (kind: string) => command('credentials', 'issue', '--kind', kind, '--label', 'faults');
  const folder = { data, management: await issue('management'), service: await issue('service') };

  const ledger: Entry[] = [];
  let rest: Recording['rest'];
  for (let life = 1; life <= lives; life += 1) {
    const service = start([], mutant);
    const port = await portOf(service);
    const writing = startWriting({ port, folder, seed: seed + life, name: `l${life}`, ledger });
    while (countOf(ledger, 'ok') < life * changesPerLife) await wait(20);
    service.kill(life === 1 ? 'SIGTERM' : 'SIGKILL');
    await Promise.all([writing.over, service.exited]);
    rest ??= { steps: readRecording(file).length, files: await filesIn(data) };
  }
  return { steps: readRecording(file), ledger, file, ...(rest && { rest }) };
}

async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const names = await readdir(folder);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

interface ImageRun extends Pick<FaultRun, 'workspace' | 'seed'> {
  readonly recording: Recording;
  readonly images: number;
  /** Where images are put; a folder in memory is best. */
  readonly parent: string;
  /** For a mutant: the kind of finding after which no further image is needed. */
  readonly until?: Finding['kind'];
}

/** Looks at so many images of what a loss of power leaves. */
export async function losePower(run: ImageRun): Promise<Report> {
  const { recording, workspace, seed, images, parent, until } = run;
  const report = startReport('loss of power', seed);
  const random = createRandom(seed);
  const responses = responsesIn(recording);
  const cuts = Array.from({ length: images }, () => cutIn(recording.steps, responses, random.below)).sort(
    (a, b) => a - b,
  );
  const disk = createDisk();
  const folder = join(parent, 'image');
  const byFate: Partial<Record<Fate, number>> = {};
  let taken = 0;
  for (const [number, cut] of cuts.entries()) {
    for (; taken < cut; taken += 1) disk.take(recording.steps[taken] ?? { kind: 'syncFolder' });
    const imageRandom = createRandom(seed + number);
    const fate = imageRandom.pick(Object.keys(fates) as Fate[]);
    await writeImage(folder, disk.image(fate, imageRandom.below));
    const found = await inspect(folder, knownBy(recording.ledger, responses, cut));
    const where = `image ${number} (step ${cut}, ${fate}) of FUZZ_SEED=${seed} POWER_IMAGES=${images} POWER_RECORDING=${recording.file}`;
    report.addFindings([...found, ...lostCredentials(folder, responses, cut)], where);
    report.addCase();
    byFate[fate] = (byFate[fate] ?? 0) + 1;
    if (until !== undefined && report.found(until) > 0) break;
  }
  report.addLedger(recording.ledger, `FUZZ_SEED=${seed}`);
  if (report.found() > 0 && until === undefined) await workspace.keep(recording.ledger);
  return report.end({ steps: recording.steps.length, byFate });
}

interface TestResponse {
  /** The number of the step at which it left the process. */
  readonly step: number;
  readonly requestID: string | undefined;
  readonly credentials: number;
}

function responsesIn({ steps }: Recording): TestResponse[] {
  return steps.flatMap((done, step) => {
    if (done.kind !== 'response') return [];
    const requestID = /^x-request-id: (\S+)/im.exec(done.text)?.[1];
    return [{ step, requestID, credentials: /^kf_(mgt|svc)_/.test(done.text) ? 1 : 0 }];
  });
}

/** Half of the time just after a response, where the result must be exact; else anywhere. */
function cutIn(
  steps: readonly DiskOperation[],
  responses: readonly TestResponse[],
  below: (limit: number) => number,
): number {
  const response = responses[below(responses.length)];
  return below(2) === 0 && response ? response.step + 1 : below(steps.length + 1);
}

/** The ledger at the power loss: later responses do not count. */
function knownBy(ledger: readonly Entry[], responses: readonly TestResponse[], cut: number): Entry[] {
  const known = new Set(responses.filter(({ step }) => step < cut).map(({ requestID }) => requestID));
  return ledger.map((entry) =>
    entry.outcome === 'ok' && !known.has(entry.requestID) ? { ...entry, outcome: 'maybe' } : entry,
  );
}

function lostCredentials(folder: string, responses: readonly TestResponse[], cut: number): Finding[] {
  const shown = responses.filter(({ step }) => step < cut).reduce((sum, { credentials }) => sum + credentials, 0);
  const { credentials } = readStored(folder);
  if (credentials >= shown) return [];
  return [{ kind: 'lost', what: `${shown} credentials were shown, and ${credentials} are there` }];
}

async function writeImage(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes, { mode: 0o600 });
}
