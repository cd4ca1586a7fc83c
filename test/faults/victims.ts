import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { hashOf } from '../support/factories.js';
import { createClient } from './kit/client.js';
import { keyfront, outputOf } from './kit/command.js';
import type { Finding } from './kit/compare.js';
import { inspect, inspectSecrets } from './kit/inspect.js';
import type { Entry } from './kit/ledger.js';
import { sendOperation } from './kit/operation.js';
import { changeRing, ringIDs } from './kit/ring.js';
import { killNow, launch, portOf } from './kit/service.js';
import { indexesOf, readStored } from './kit/stored.js';
import { marked, startMark, writeKeys, type Workspace } from './kit/workspace.js';
import { startWriting } from './kit/writers.js';

/* What is killed at one of its calls to the disk, and what must be true of the data folder afterwards. */

export interface Scene {
  readonly main: string;
  readonly workspace: Workspace;
  /** A folder of its own for every kill; the data folder is `data` in it. */
  readonly folder: string;
}

export interface Victim {
  /** The command that is killed; none is a start of the service. */
  readonly args: (scene: Scene) => readonly string[];
  /** Makes what the command finds. */
  readonly prepare: (scene: Scene) => Promise<void>;
  /** What a service is asked from when it is ready until it is killed, or else stopped. */
  readonly use?: (scene: Scene, port: number) => Promise<void>;
  /** Looks at what the kill has left, and does what an operator would do next. */
  readonly judge: (scene: Scene) => Promise<Finding[]>;
}

/** The data folder of a scene. */
export const dataOf = ({ folder }: Scene) => join(folder, 'data');
/** A finding about what a service or a command returned. */
export const wrongResponse = (what: string): Finding => ({ kind: 'wrong response', what });
const unless = (isRight: boolean, what: string): Finding[] => (isRight ? [] : [wrongResponse(what)]);

/** The service starts on the folder and takes a change. */
async function serves(scene: Scene): Promise<Finding[]> {
  const data = dataOf(scene);
  const service = launch({ main: scene.main, data });
  const url = await service.listening;
  if (!url) return [wrongResponse(`the next start failed: ${service.stderr()}`)];
  const secret = await outputOf(data, 'credentials', 'issue', '--kind', 'service', '--label', 'next');
  const client = createClient(Number(url.port));
  const create = { kind: 'create', api: 'rest', keyID: 'next', mark: startMark, amount: 0 } as const;
  const { outcome, response } = await sendOperation(client, { data, management: '', service: secret }, create);
  client.close();
  service.kill('SIGTERM');
  const { code } = await service.exited;
  return [
    ...unless(outcome === 'ok', `a change after the next start returned ${response}`),
    ...unless(code === 0, `the next service ended with exit code ${code}`),
  ];
}

/** Kept beside the workspace's other folders, and made once. */
async function hotFolder({ main, workspace }: Scene): Promise<{ data: string; ledger: readonly Entry[] }> {
  const folder = await workspace.fresh('hot');
  const ledger: Entry[] = [];
  const service = launch({ main, data: folder.data });
  const writing = startWriting({ port: await portOf(service), folder, seed: 1, name: 'hot', ledger });
  while (ledger.length < 200) await wait(10);
  await killNow(service);
  await writing.over;
  return { data: folder.data, ledger };
}

const hot = new WeakMap<Workspace, ReturnType<typeof hotFolder>>();
function sharedHotFolder(scene: Scene): ReturnType<typeof hotFolder> {
  const made = hot.get(scene.workspace) ?? hotFolder(scene);
  hot.set(scene.workspace, made);
  return made;
}

async function freshData(scene: Scene): Promise<void> {
  const { data } = await scene.workspace.fresh(`${scene.folder.slice(scene.workspace.folder.length + 1)}/made`);
  await cp(data, dataOf(scene), { recursive: true });
  await rm(data, { recursive: true });
}

const keysInTemplate = 11;

/** What a backup must hold: all that the folder holds it was made of. */
async function restoredFindings(scene: Scene): Promise<Finding[]> {
  const restored = join(scene.folder, 'restored');
  await mkdir(restored, { mode: 0o700 });
  await cp(join(dataOf(scene), 'key-ring.json'), join(restored, 'key-ring.json'));
  const { code, stderr } = await keyfront(restored, 'restore', join(scene.folder, 'backup'));
  if (code !== 0) return [wrongResponse(`a complete backup is not restored: ${stderr}`)];
  return [...(await inspect(restored, [])), ...differences(restored, dataOf(scene))];
}

function differences(data: string, original: string): Finding[] {
  if (isDeepStrictEqual(readStored(data), readStored(original))) return [];
  return [{ kind: 'lost', what: 'what was restored is not what was backed up' }];
}

interface ImportVictimOptions {
  readonly prepareData: (scene: Scene) => Promise<void>;
  readonly keysBefore: number;
  readonly importedKeys: number;
  /** What happens to the data folder before the import is repeated. */
  readonly resume: (scene: Scene) => Promise<Finding[]>;
}

/** An import that is killed, and repeated. */
function importVictim({ prepareData, keysBefore, importedKeys, resume }: ImportVictimOptions): Victim {
  return {
    args: ({ folder }) => ['keys', 'import', join(folder, 'more.jsonl')],
    prepare: async (scene) => {
      await prepareData(scene);
      const keys = Array.from({ length: importedKeys }, (_, index) => ({ key_id: `more-${index}`, ...marked }));
      await writeKeys(join(scene.folder, 'more.jsonl'), keys);
    },
    judge: async (scene) => {
      const data = dataOf(scene);
      const findings = [...(await inspect(data, [])), ...(await inspectSecrets(data))];
      const { keys } = readStored(data);
      const imported = keys.size - keysBefore;
      findings.push(...(await resume(scene)));
      const again = await keyfront(data, 'keys', 'import', join(scene.folder, 'more.jsonl'));
      const whole = `${(importedKeys - imported).toLocaleString('en')} imported, ${imported.toLocaleString('en')} skipped (already exist)`;
      return [
        ...findings,
        ...unless(
          Array.from({ length: imported }, (_, index) => hashOf(`more-${index}`)).every((keyHash) => keys.has(keyHash)),
          `${imported} keys are there, and they are not the first of the file`,
        ),
        ...unless(again.code === 0 && again.stderr.startsWith(whole), `importing again: ${again.stderr}`),
        ...(await inspect(data, [])),
      ];
    },
  };
}

/** Policies in the form of `policies list --json`. Of two names, some are the same, some differ, and some exist once. */
function policyLines(name: string): string {
  const all = Array.from({ length: 30 }, (_, index) => {
    const isShared = index % 3 === 0;
    const policyID = index % 3 === 2 ? `${name}-${index}` : `both-${index}`;
    return JSON.stringify({
      policy_id: policyID,
      name: isShared ? 'both' : name,
      governs: ['quota'],
      quota_max: index + 1,
    });
  });
  return `${all.join('\n')}\n`;
}

/** The indexes of a data folder that was never interrupted, without those that this one has. */
async function missingIndexes(scene: Scene): Promise<Finding[]> {
  const { data } = await scene.workspace.fresh(
    `${scene.folder.slice(scene.workspace.folder.length + 1)}/uninterrupted`,
  );
  const found = indexesOf(dataOf(scene));
  return indexesOf(data)
    .filter((name) => !found.includes(name))
    .map((name) => ({ kind: 'lost', what: `the index ${name} is missing after the next start` }));
}

export const victims = {
  'the first start': {
    args: () => [],
    prepare: ({ folder }) => mkdir(join(folder, 'data'), { mode: 0o700 }).then(() => undefined),
    judge: async (scene) => [...(await serves(scene)), ...(await inspect(dataOf(scene), []))],
  },
  'a start that recovers from a kill': {
    args: () => [],
    prepare: async (scene) => cp((await sharedHotFolder(scene)).data, dataOf(scene), { recursive: true }),
    judge: async (scene) => {
      const { ledger } = await sharedHotFolder(scene);
      return [...(await inspect(dataOf(scene), ledger)), ...(await inspectSecrets(dataOf(scene)))];
    },
  },
  'policies import': {
    args: ({ folder }) => ['policies', 'import', join(folder, 'new.jsonl'), '--prune'],
    prepare: async (scene) => {
      await freshData(scene);
      await writeFile(join(scene.folder, 'old.jsonl'), policyLines('old'));
      await writeFile(join(scene.folder, 'new.jsonl'), policyLines('new'));
      await outputOf(dataOf(scene), 'policies', 'import', join(scene.folder, 'old.jsonl'));
    },
    judge: async (scene) => {
      const data = dataOf(scene);
      const stored = async () => new Set((await outputOf(data, 'policies', 'list', '--json')).split('\n'));
      const linesOf = (name: string) => new Set(policyLines(name).trimEnd().split('\n'));
      const found = await stored();
      const findings = await inspect(data, []);
      const isWhole = [linesOf('old'), linesOf('new')].some((lines) => isDeepStrictEqual(lines, found));
      const again = await keyfront(data, 'policies', 'import', join(scene.folder, 'new.jsonl'), '--prune');
      return [
        ...findings,
        ...unless(isWhole, `${found.size} policies are there, and they are those of neither file`),
        ...unless(again.code === 0, `importing again: ${again.stderr}`),
        ...unless(isDeepStrictEqual(await stored(), linesOf('new')), 'the next import did not store its policies'),
        ...(await inspect(data, [])),
      ];
    },
  },
  'keys import': importVictim({
    prepareData: freshData,
    keysBefore: keysInTemplate,
    importedKeys: 1_200,
    resume: () => Promise.resolve([]),
  }),
  'the first keys import': importVictim({
    prepareData: async (scene) => {
      await mkdir(dataOf(scene), { mode: 0o700 });
      await outputOf(dataOf(scene), 'credentials', 'issue', '--kind', 'service', '--label', 'faults');
    },
    keysBefore: 0,
    // So few that some of the kills fall into the creation of the search indexes.
    importedKeys: 60,
    resume: async (scene) => [...(await serves(scene)), ...(await missingIndexes(scene))],
  }),
  'secrets rotate': {
    args: () => ['secrets', 'rotate'],
    prepare: freshData,
    judge: async (scene) => {
      const data = dataOf(scene);
      const left = [...(await inspect(data, [])), ...(await inspectSecrets(data))];
      const again = await changeRing(data, 'secrets', 'rotate');
      const pruned = await changeRing(data, 'secrets', 'prune');
      return [
        ...left,
        ...unless(again.code === 0, `rotating again: ${again.stderr}`),
        ...unless(pruned.code === 0 && (await ringIDs(data)).length === 1, `pruning: ${pruned.stderr}`),
        ...(await inspect(data, [])),
        ...(await inspectSecrets(data)),
      ];
    },
  },
  'secrets prune': {
    args: () => ['secrets', 'prune'],
    prepare: async (scene) => {
      await freshData(scene);
      await outputOf(dataOf(scene), 'secrets', 'rotate');
    },
    judge: async (scene) => {
      const data = dataOf(scene);
      const left = await inspect(data, []);
      const again = await changeRing(data, 'secrets', 'prune');
      return [
        ...left,
        ...unless(again.code === 0 && (await ringIDs(data)).length === 1, `pruning again: ${again.stderr}`),
        ...(await inspect(data, [])),
        ...(await inspectSecrets(data)),
      ];
    },
  },
} satisfies Record<string, Victim>;

/** Commands that write copies. */
export const backupVictims = {
  backup: {
    args: ({ folder }) => ['backup', join(folder, 'backup')],
    prepare: freshData,
    judge: async (scene) => {
      const target = join(scene.folder, 'backup');
      const source = await inspect(dataOf(scene), []);
      if (!existsSync(target)) {
        // What is left of it has another name, and the next backup reports that it must be removed.
        await rm(`${target}.incomplete`, { recursive: true, force: true });
        await outputOf(dataOf(scene), 'backup', target);
      }
      return [...source, ...(await restoredFindings(scene))];
    },
  },
  restore: {
    args: ({ folder }) => ['restore', join(folder, 'backup')],
    prepare: async (scene) => {
      const data = dataOf(scene);
      await freshData(scene);
      await outputOf(data, 'backup', join(scene.folder, 'backup'));
      await cp(data, join(scene.folder, 'original'), { recursive: true });
      for (const name of ['keyfront.db', 'keyfront.db-wal', 'keyfront.db-shm'])
        await rm(join(data, name), { force: true });
    },
    judge: async (scene) => {
      const data = dataOf(scene);
      if (!existsSync(join(data, 'keyfront.db'))) await outputOf(data, 'restore', join(scene.folder, 'backup'));
      return [...(await inspect(data, [])), ...differences(data, join(scene.folder, 'original'))];
    },
  },
} satisfies Record<string, Victim>;
