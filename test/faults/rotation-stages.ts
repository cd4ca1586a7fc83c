import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../support/generated.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { outputOf } from './kit/command.js';
import { compare } from './kit/compare.js';
import type { Entry } from './kit/ledger.js';
import { startReport, type Report } from './kit/report.js';
import { hasRemovedDraft, ringIDs } from './kit/ring.js';
import { killNow, launch, portOf } from './kit/service.js';
import type { Process } from '../support/process.js';
import { readStored, readStoredOfServer } from './kit/stored.js';
import type { DataFolder, FaultRun } from './kit/workspace.js';
import { respondInTurn, startWriting, type Serving } from './kit/writers.js';

/*
 * Two services rotate their key ring in stages while clients change the same keys through both. Each command is killed
 * once and run again. At every stage one service is killed and started again, then the other one is stopped and started
 * again. On PostgreSQL each service is a host with a copy of the key ring, which gets the changed ring after the other.
 */

/** The mutant runs the services, not the commands. */
interface StagesRun extends FaultRun {
  readonly rotations: number;
  /** Creates an empty PostgreSQL database; without it, the services share a data folder. */
  readonly createDatabase: (() => Promise<TestDatabase>) | undefined;
}

/** What a command takes to begin, and to do its work, on a machine that is not busy. */
const [beginsMs, worksMs] = [300, 400];

const stages = [
  ['add', 'added'],
  ['promote', 'promoted'],
  ['rotate', 'rotated'],
  ['prune', 'complete'],
] as const;

/** Ends early when something is found. */
export async function rotateInStages({
  main,
  workspace,
  seed,
  rotations,
  createDatabase,
  mutant,
}: StagesRun): Promise<Report> {
  const store = createDatabase ? 'PostgreSQL, with a key ring each' : 'SQLite';
  const report = startReport(
    `kill -9 and restarts at each stage of a key rotation, with two services on ${store}`,
    seed,
  );
  const random = createRandom(seed);
  const database = await createDatabase?.();
  const env = database ? { KEYFRONT_DATABASE_URL: database.url } : {};
  const name = `stages-${database ? 'postgres' : 'sqlite'}-${mutant ? 'mutant' : 'sound'}`;
  const first = await workspace.fresh(name, env);
  const otherData = database ? join(workspace.folder, `${name}-other`) : first.data;
  if (database) await mkdir(otherData);
  const hosts: [DataFolder, DataFolder] = [first, { ...first, data: otherData }];
  const ledger: Entry[] = [];
  const running: Process[] = [];
  const counts = { killedServices: 0, restartedServices: 0, killedCommands: 0, drafts: 0, rejectedRows: 0 };
  const where = `FUZZ_SEED=${seed} STAGED_ROTATIONS=${rotations}`;
  let loads = 0;

  const start = async (host: DataFolder): Promise<Serving> => {
    const service = launch({ main, data: host.data, env, mutant });
    running.push(service);
    const port = await portOf(service);
    loads += 1;
    const load = { port, folder: host, seed: seed * 1_000 + loads, name: `l${loads}`, ledger, writers: 4 };
    const writing = startWriting(load);
    await writing.begun;
    return { service, writing };
  };
  const command = (...args: string[]) => launch({ main, data: first.data, env, args: ['secrets', ...args] });
  const stageNow = async (): Promise<string> => {
    const out = await outputOf({ KEYFRONT_DATA: first.data, ...env }, 'secrets', 'status', '--json');
    return (JSON.parse(out) as { stage: string }).stage;
  };
  const distribute = async () => {
    if (!database) return;
    const copy = join(otherData, 'copy');
    await copyFile(join(first.data, 'key-ring.json'), copy);
    await rename(copy, join(otherData, 'key-ring.json'));
  };

  /** Kills the command once, then runs it until the stage is reached. */
  const step = async (name: string, stage: string) => {
    const before = await stageNow();
    const killed = command(name);
    await Promise.race([wait(beginsMs + random.below(worksMs)), killed.exited]);
    await killNow(killed);
    counts.killedCommands += 1;
    await until(async () => {
      // A command that was killed at its end has reached the stage.
      if ((await stageNow()) === stage && stage !== before) return true;
      const again = command(name);
      if ((await again.exited).code === 0) return true;
      if (await hasRemovedDraft(first.data, again.stderr())) counts.drafts += 1;
      // A change that was in flight during the rotation.
      else if (again.stderr().includes('Run `keyfront secrets rotate` first')) await command('rotate').exited;
      return false;
    }, `The stage ${stage}`);
  };

  /** Kills one service, then restarts the other. Between the two, the other one reads what the new one has written. */
  const replaceBoth = async (serving: [Serving, Serving]) => {
    const [killed, other] = random.below(2) === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const index of [killed, other]) {
      await respondInTurn([serving[killed], serving[other]], random);
      const { service, writing } = serving[index];
      if (index === killed) {
        await killNow(service);
        await writing.over;
        counts.killedServices += 1;
      } else {
        await writing.stop();
        service.kill('SIGTERM');
        await service.exited;
        counts.restartedServices += 1;
      }
      serving[index] = await start(hosts[index]);
    }
  };

  try {
    await distribute();
    const serving: [Serving, Serving] = [await start(hosts[0]), await start(hosts[1])];
    for (let rotation = 0; rotation < rotations && report.found() === 0; rotation += 1) {
      for (const [name, stage] of stages) {
        report.addCase();
        await step(name, stage);
        // The services read the ring without a restart, and the other host does not have this one yet.
        await replaceBoth(serving);
        if (database && name !== 'rotate') {
          await distribute();
          await replaceBoth(serving);
        }
        counts.rejectedRows = ledger.filter(({ response }) => response.includes('INTERNAL')).length;
        if (counts.rejectedRows === 0) continue;
        report.addFindings([{ kind: 'wrong response', what: `${counts.rejectedRows} rows were rejected` }], where);
        break;
      }
    }
    for (const { service, writing } of serving) {
      await writing.stop();
      service.kill('SIGTERM');
      await service.exited;
    }
    for (const { data } of hosts) {
      const check = launch({ main, data, env, args: ['check'] });
      if ((await check.exited).code !== 0) {
        report.addFindings([{ kind: 'damaged', what: `keyfront check: ${check.stderr()}` }], where);
      }
      const ids = await ringIDs(data);
      if (ids.length !== 1)
        report.addFindings([{ kind: 'wrong response', what: `left in the ring: ${ids.join()}` }], where);
    }
    const stored = database ? await readStoredOfServer(database.url) : readStored(first.data);
    report.addFindings(compare(ledger, stored), where);
    report.addLedger(ledger, where);
    if (report.found() > 0 && mutant === undefined) await workspace.keep(ledger);
  } finally {
    await Promise.all(running.map(killNow));
    await database?.drop();
  }
  return report.end(counts);
}
