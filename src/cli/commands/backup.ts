import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config, ConfigSecrets } from '../../config/config.js';
import { loadKeyRing } from '../../crypto/key-ring.js';
import { syncFile, syncName } from '../../lib/durable-file.js';
import { explainSystemError } from '../../lib/system-error.js';
import { openServices, type Services } from '../../storage/open-storage.js';
import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import type { IO } from '../io.js';
import { withServices } from '../key-client/open.js';
import { countOf } from '../output/count.js';
import { toJSONLine } from '../output/json.js';
import { createProgressLine } from '../output/progress.js';
import { verifyInstallation } from '../verify-installation.js';
import { databaseCopyName, describeNewestChange, digestFile, writeManifest, type Manifest } from './backup-manifest.js';

export const backupCommand: CLICommand = {
  name: 'backup',
  summary: 'Copy the database to a new folder and verify the copy',
  description:
    'Opens the storage read-only. Services may run meanwhile. The backup does not contain the key ring and cannot be decrypted without it: back up the key ring separately.',
  arguments: ['DIR'],
  options: { json: { description: 'Print the manifest of the backup as JSON', isCommon: true } },
  examples: ['keyfront backup /mnt/backups/2026-11-21'],
  environment: storageVariables,
  run: backup,
};

async function backup(io: IO, options: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const target = resolve(folder);
  return withServices(io, { access: 'read' }, async (services, { config, secrets }) => {
    const draft = createDraft(target);
    try {
      const copy = join(draft, databaseCopyName);
      const progress = createProgressLine(io, 'pages copied');
      await services.copyTo(copy, progress.show);
      progress.end();
      syncFile(copy);
      const manifest = await verifyCopy(io, services, { ...config, databaseFile: copy }, secrets);
      writeManifest(draft, manifest);
      syncName(copy);
      renameSync(draft, target);
      syncName(target);
      if (options['json'] === true) io.stdout(`${toJSONLine({ folder: target, ...manifest })}\n`);
      io.stderr(`${countOf(manifest.keys, 'keys backed up and verified')}. ${describeNewestChange(manifest)}\n`);
      io.stderr(`This backup cannot be decrypted without the key ring. Back up ${config.keyRingFile} separately.\n`);
      return 0;
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Creates the folder of an incomplete backup. Its name differs from that of a backup, and only one process can create it. */
function createDraft(target: string): string {
  if (existsSync(target)) throw new Error(`${target} already exists. A backup needs a new folder.`);
  const draft = `${target}.incomplete`;
  try {
    mkdirSync(draft, { mode: 0o700 });
  } catch (cause) {
    throw new Error(describeDraftError(draft, cause), { cause });
  }
  return draft;
}

function describeDraftError(draft: string, cause: unknown): string {
  if (existsSync(draft)) {
    return `${draft} exists: another backup is running or was interrupted. If none is running, remove it and try again.`;
  }
  const parent = dirname(draft);
  return existsSync(parent)
    ? `Cannot create ${draft}: ${explainSystemError(cause)}.`
    : `Cannot create a backup in ${parent}: the folder does not exist. Create it, or correct the path.`;
}

/** Verifies the copy and returns its manifest. */
async function verifyCopy(io: IO, { now }: Services, config: Config, secrets: ConfigSecrets): Promise<Manifest> {
  const copy = await openServices(config, secrets, {}, { access: 'read' });
  try {
    const progress = createProgressLine(io, 'keys verified');
    const { problems } = await verifyInstallation(copy, progress.show);
    progress.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0) throw new Error('No backup was made: the database is damaged.');
    const { newestChange, ...figures } = await copy.contents();
    return {
      created: now().toISOString(),
      ...figures,
      newestChange: newestChange && { ...newestChange, at: newestChange.at.toISOString() },
      keyRing: [...loadKeyRing(config.keyRingFile).ids],
      ...digestFile(config.databaseFile),
    };
  } finally {
    await copy.close();
  }
}
