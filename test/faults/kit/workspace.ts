import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputOf, type Place } from './command.js';

/** The keys before a run. Each writer has its own key; all writers share two, and one has a quota. */
export const keysFor = (writers: number) => ({
  own: Array.from({ length: writers }, (_, index) => `own-${index}`),
  shared: ['shared-a', 'shared-b'],
  quota: 'quota',
});

/** The mark of every definition before a run. */
export const startMark = 'start';

/** The definition of every key before a run. */
export const marked = { org_id: 'acme', alias: startMark, tags: [startMark], hmac_string: startMark };

/** Writes a file for `keys import`. */
export async function writeKeys(file: string, keys: readonly object[]): Promise<void> {
  await writeFile(file, keys.map((key) => `${JSON.stringify(key)}\n`).join(''));
}

/** Writes keys to a file, and imports them. */
export async function importKeys(place: Place, file: string, keys: readonly object[]): Promise<void> {
  await writeKeys(file, keys);
  await outputOf(place, 'keys', 'import', file);
}

export interface DataFolder {
  readonly data: string;
  readonly management: string;
  readonly service: string;
}

/** The folder of a suite, which `remove` deletes unless `keep` was called. */
export interface Workspace {
  readonly folder: string;
  /**
   * Creates a data folder with credentials and the keys of `keysFor`: a copy of a template, or, with settings that name
   * a database, a new installation.
   */
  fresh(name: string, env?: Readonly<Record<string, string>>): Promise<DataFolder>;
  /** File for `keys import` with the keys of `keysFor`. */
  readonly keysFile: string;
  /** Keeps the folder and the ledger of the clients, for the analysis of findings. */
  keep(ledger: unknown): Promise<string>;
  remove(): Promise<void>;
}

/** The parameters of every harness. */
export interface FaultRun {
  /** The built command line. */
  readonly main: string;
  readonly workspace: Workspace;
  readonly seed: number;
  /** The command line of a mutant, which the harness must detect. */
  readonly mutant?: string | undefined;
}

/** The default number of writers. */
export const defaultWriters = 8;

export async function makeWorkspace(name: string): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), `keyfront-${name}-`));
  const keysFile = join(folder, 'keys.jsonl');
  const { own, shared, quota } = keysFor(defaultWriters);
  await writeKeys(keysFile, [
    ...[...own, ...shared].map((key_id) => ({ key_id, ...marked })),
    { key_id: quota, ...marked, quota_max: 1_000_000_000_000 },
  ]);
  let template: Promise<DataFolder> | undefined;
  let isKept = false;
  return {
    folder,
    keysFile,
    async fresh(copy, env) {
      const data = join(folder, copy);
      await rm(data, { recursive: true, force: true });
      if (env?.['KEYFRONT_DATABASE_URL'] !== undefined) return makeInstallation(data, keysFile, env);
      template ??= makeInstallation(join(folder, 'template'), keysFile);
      const made = await template;
      await cp(made.data, data, { recursive: true });
      return { ...made, data };
    },
    async keep(ledger) {
      isKept = true;
      const file = join(folder, 'ledger.json');
      if (!existsSync(file)) await writeFile(file, JSON.stringify(ledger, null, 1));
      return folder;
    },
    remove: async () => {
      if (!isKept) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates an installation with the keys of a file and a credential of each kind. */
export async function makeInstallation(
  data: string,
  keysFile: string,
  env: Readonly<Record<string, string>> = {},
): Promise<DataFolder> {
  const place = { KEYFRONT_DATA: data, ...env };
  await outputOf(place, 'keys', 'import', keysFile);
  const issue = (kind: string) => outputOf(place, 'credentials', 'issue', '--kind', kind, '--label', 'faults');
  return { data, management: await issue('management'), service: await issue('service') };
}
