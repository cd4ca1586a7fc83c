import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { syncFile, syncName } from '../../lib/durable-file.js';
import { openServices } from '../../storage/open-storage.js';
import { restoringFile } from '../../storage/open-engine.js';
import { loadKeyRing } from '../../crypto/key-ring.js';
import { makePrivateFolder } from '../../storage/sqlite/private-files.js';
import type { IO } from '../io.js';
import { databaseCopyName, digestFile, describeNewestChange, readManifest, type Manifest } from './backup-manifest.js';
import { verifyInstallation } from '../output/problems.js';
import type { OptionValues } from '../command.js';
import { createProgressLine } from '../output/progress.js';

/** Puts a backup into an empty data folder. Until all of it has been looked through, the folder stays without a database. */
export async function restore(io: IO, _values: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  if (secrets.databaseURL !== undefined) {
    throw new Error('A backup is restored into a data folder. PostgreSQL has pg_restore for what pg_dump wrote.');
  }
  const manifest = readManifest(folder);
  requireRing(config, manifest);
  const draft = restoringFile(config);
  requireEmpty(config, draft);
  makePrivateFolder(dirname(config.databaseFile));
  try {
    clear(draft);
    const found = digestFile(join(folder, databaseCopyName), draft);
    if (found.bytes !== manifest.bytes || found.sha256 !== manifest.sha256) {
      throw new Error(
        `The backup ${folder} is damaged: ${databaseCopyName} is not the file that its manifest describes.`,
      );
    }
    const line = await look(io, { ...config, databaseFile: draft }, secrets);
    syncFile(draft);
    renameSync(draft, config.databaseFile);
    syncName(config.databaseFile);
    io.stderr(line);
    return 0;
  } finally {
    clear(draft);
  }
}

/** Opens the copy as a service would, bringing it up to date, and looks through all of it. */
async function look(io: IO, config: Config, { keyHashPepper, databaseURL }: ConfigSecrets): Promise<string> {
  // No connection to live counters: their pending changes are not to be applied before the copy has passed the check.
  const secrets = { keyHashPepper, databaseURL, quotaURL: undefined };
  const opening = { access: 'write', allowMigrated: true, report: (line: string) => io.stderr(`${line}\n`) } as const;
  const copy = await openServices(config, secrets, {}, opening);
  try {
    const progress = createProgressLine(io, 'keys checked');
    const { keys, problems } = await verifyInstallation(copy, progress.show);
    progress.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0) throw new Error('Nothing was restored: the backup is not as it was written.');
    const { newestChange } = await copy.contents();
    const marker = describeNewestChange({
      newestChange: newestChange && { ...newestChange, at: newestChange.at.toISOString() },
    });
    return `${keys} keys restored. ${marker} What was done later is not there.\n`;
  } finally {
    await copy.close();
  }
}

function requireRing({ keyRingFile }: Config, { keyRing }: Manifest): void {
  const wanted = keyRing.join(', ');
  if (!existsSync(keyRingFile)) {
    throw new Error(
      `Nothing in the backup opens without its key ring (${wanted}). Put a copy of it at ${keyRingFile} first.`,
    );
  }
  const { ids } = loadKeyRing(keyRingFile);
  if (!keyRing.some((id) => ids.includes(id))) {
    throw new Error(`The key ring ${keyRingFile} has none of the keys that the backup was made with (${wanted}).`);
  }
}

/** A key ring may be there already, and what an earlier attempt has left. */
function requireEmpty({ databaseFile, keyRingFile }: Config, draft: string): void {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return;
  const others = readdirSync(folder).filter(
    (name) => resolve(folder, name) !== resolve(keyRingFile) && !name.startsWith(basename(draft)),
  );
  if (others.length === 0) return;
  throw new Error(
    `The data folder ${folder} is not empty: it holds ${others.join(', ')}. Stop the service, move the folder away, ` +
      'put the key ring alone into a new one, and restore again.',
  );
}

function clear(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${suffix}`, { force: true });
}
