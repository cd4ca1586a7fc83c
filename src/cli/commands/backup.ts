import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config, ConfigSecrets } from '../../config/config.js';
import { syncFile, syncName } from '../../lib/durable-file.js';
import { openServices, type Services } from '../../storage/open-storage.js';
import { loadKeyRing } from '../../crypto/key-ring.js';
import type { IO } from '../io.js';
import { databaseCopyName, digestFile, describeNewestChange, writeManifest, type Manifest } from './backup-manifest.js';
import { withServices } from '../key-client/open.js';
import { verifyInstallation } from '../output/problems.js';
import type { OptionValues } from '../command.js';
import { createProgressLine } from '../output/progress.js';

/** Copies the database into a new folder while services go on, and looks through the copy before it counts as one. */
export async function backup(io: IO, _values: OptionValues, [folder = '']: readonly string[]): Promise<number> {
  const target = resolve(folder);
  return withServices(io, { access: 'read' }, async (installation, { config, secrets }) => {
    const draft = makeDraft(target);
    try {
      const copy = join(draft, databaseCopyName);
      const progress = createProgressLine(io, 'pages copied');
      await installation.copyTo(copy, progress.show);
      progress.end();
      syncFile(copy);
      const manifest = await describe(io, installation, { ...config, databaseFile: copy }, secrets);
      writeManifest(draft, manifest);
      syncName(copy);
      renameSync(draft, target);
      syncName(target);
      io.stderr(`${manifest.keys} keys backed up and checked. ${describeNewestChange(manifest)}\n`);
      io.stderr(`Nothing in it opens without the key ring: keep a copy of ${config.keyRingFile} apart from it.\n`);
      return 0;
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  });
}

/** What is not yet a backup has another name than what will be one, and is held by one process only. */
function makeDraft(target: string): string {
  if (existsSync(target)) throw new Error(`${target} is there already, and a backup is never written over anything.`);
  const draft = `${target}.incomplete`;
  try {
    mkdirSync(draft, { mode: 0o700 });
  } catch (cause) {
    const isHeld = existsSync(draft);
    const advice = 'If no other backup is running, remove it and try again.';
    throw new Error(
      isHeld ? `${draft} is left of a backup that was cut short. ${advice}` : `${draft} cannot be made.`,
      {
        cause,
      },
    );
  }
  return draft;
}

/** The manifest of a copy that is as the original was written; throws where it is not. */
async function describe(io: IO, { now }: Services, config: Config, secrets: ConfigSecrets): Promise<Manifest> {
  const copy = await openServices(config, secrets, {}, { access: 'read' });
  try {
    const progress = createProgressLine(io, 'keys checked');
    const { problems } = await verifyInstallation(copy, progress.show);
    progress.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0)
      throw new Error('There is no backup: the database is damaged, and a copy of it would be too.');
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
