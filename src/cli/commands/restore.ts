import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readConfig, type Config, type ConfigSecrets } from '../../config/config.js';
import { loadKeyRing } from '../../crypto/key-ring.js';
import { syncFile, syncName } from '../../lib/durable-file.js';
import { restoringFile } from '../../storage/open-engine.js';
import { openServices } from '../../storage/open-storage.js';
import { makePrivateFolder } from '../../storage/sqlite/files.js';
import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import type { IO } from '../io.js';
import { rejectServiceURL } from '../key-client/open.js';
import { countOf } from '../output/count.js';
import { jsonOption, printJSONResult } from '../output/format.js';
import { createProgressLine } from '../output/progress.js';
import { verifyInstallation } from '../verify-installation.js';
import { databaseCopyName, describeNewestChange, digestFile, readManifest, type Manifest } from './backup-manifest.js';

export const restoreCommand: CLICommand = {
  name: 'restore',
  summary: 'Restore a backup to an empty data folder and verify it',
  description: 'The data folder must contain the key ring and nothing else.',
  arguments: ['DIR'],
  options: { json: jsonOption },
  examples: ['KEYFRONT_DATA=/var/lib/keyfront keyfront restore /mnt/backups/2026-11-21'],
  environment: storageVariables,
  run: restore,
};

async function restore(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  rejectServiceURL(io);
  const { config, secrets } = readConfig(io.env);
  if (secrets.databaseURL !== undefined) {
    throw new Error(
      '`keyfront restore` restores a data folder, but KEYFRONT_DATABASE_URL is set. For PostgreSQL use pg_restore.',
    );
  }
  const manifest = readManifest(folder);
  requireKeyRing(config, manifest);
  const draft = restoringFile(config);
  requireEmptyFolder(config, draft);
  makePrivateFolder(dirname(config.databaseFile));
  try {
    removeDatabase(draft);
    const copied = digestFile(join(folder, databaseCopyName), draft);
    if (copied.bytes !== manifest.bytes || copied.sha256 !== manifest.sha256) {
      throw new Error(
        `The backup ${folder} is damaged: the checksum of ${databaseCopyName} does not match its manifest.`,
      );
    }
    const { keys, summary } = await verifyCopy(io, { ...config, databaseFile: draft }, secrets);
    syncFile(draft);
    // The data folder has no database until the copy is verified.
    renameSync(draft, config.databaseFile);
    syncName(config.databaseFile);
    printJSONResult(io, options, { database: config.databaseFile, keys, newestChange: manifest.newestChange });
    io.stderr(summary);
    return 0;
  } finally {
    removeDatabase(draft);
  }
}

/** Opens the copy as a service would, which migrates its schema, and verifies it. Returns the summary to print. */
async function verifyCopy(
  io: IO,
  config: Config,
  { keyHashPepper, databaseURL }: ConfigSecrets,
): Promise<{ readonly keys: number; readonly summary: string }> {
  // Without a connection to external counters: their pending changes must not be applied to an unverified copy.
  const secrets = { keyHashPepper, databaseURL, quotaURL: undefined };
  const openOptions = {
    access: 'write',
    allowMigrated: true,
    report: (line: string) => io.stderr(`${line}\n`),
  } as const;
  const copy = await openServices(config, secrets, {}, openOptions);
  try {
    const progress = createProgressLine(io, 'keys verified');
    const { keys, problems } = await verifyInstallation(copy, progress.show);
    progress.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0) throw new Error('Nothing was restored: the backup is damaged.');
    const { newestChange } = await copy.contents();
    const newest = describeNewestChange({
      newestChange: newestChange && { ...newestChange, at: newestChange.at.toISOString() },
    });
    return { keys, summary: `${countOf(keys, 'keys restored and verified')}. ${newest} Later changes are lost.\n` };
  } finally {
    await copy.close();
  }
}

function requireKeyRing({ keyRingFile }: Config, { keyRing }: Manifest): void {
  const requiredIDs = keyRing.join(', ');
  if (!existsSync(keyRingFile)) {
    throw new Error(
      `The backup cannot be decrypted without its key ring (${requiredIDs}). Copy the key ring to ${keyRingFile} first.`,
    );
  }
  const { ids } = loadKeyRing(keyRingFile);
  if (!keyRing.some((id) => ids.includes(id))) {
    throw new Error(`The key ring ${keyRingFile} contains none of the keys of the backup (${requiredIDs}).`);
  }
}

/** The folder may contain a key ring, and files that an earlier attempt left. */
function requireEmptyFolder({ databaseFile, keyRingFile }: Config, draft: string): void {
  const folder = dirname(databaseFile);
  if (!existsSync(folder)) return;
  const others = readdirSync(folder).filter(
    (name) => resolve(folder, name) !== resolve(keyRingFile) && !name.startsWith(basename(draft)),
  );
  if (others.length === 0) return;
  throw new Error(
    `The data folder ${folder} is not empty: it contains ${others.join(', ')}. Stop the service, move the folder away, ` +
      'copy only the key ring to a new one, and restore again.',
  );
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}
