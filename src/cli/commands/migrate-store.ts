import { readConfig } from '../../config/config.js';
import { openServices, type Services } from '../../storage/open-storage.js';
import { isNew } from '../../storage/storage.js';
import { copyStore, migratedFrom, migrationSourceSetting, type CopyResult } from '../../storage/sql/copy-store.js';
import type { openForMigration } from '../../storage/postgres/engine.js';
import { openLockedRows, type LockedRows } from '../../storage/sqlite/copy-source.js';
import type { CLICommand, OptionValues } from '../command.js';
import { storageVariables } from '../environment.js';
import { UsageError, type IO } from '../io.js';
import { rejectServiceURL } from '../key-client/open.js';
import { countOf } from '../output/count.js';
import { jsonOption, printJSONResult } from '../output/format.js';
import { createProgressLine } from '../output/progress.js';
import { verifyInstallation } from '../verify-installation.js';

export const migrateStoreCommand: CLICommand = {
  name: 'migrate-store',
  summary: 'Copy the data folder to the PostgreSQL database of KEYFRONT_DATABASE_URL',
  description:
    'Stop the service first: no other process can write to the file meanwhile. Every row is read back and compared. The file keeps its rows and is marked as migrated, so that services do not start on it (`serve --allow-migrated` permits it). The command may be interrupted and run again.',
  options: { json: jsonOption },
  examples: ['KEYFRONT_DATABASE_URL=postgres://keyfront@db.internal/keyfront keyfront migrate-store'],
  environment: storageVariables,
  run: migrateStore,
};

async function migrateStore(io: IO, options: OptionValues): Promise<number> {
  rejectServiceURL(io);
  const { config, secrets } = readConfig(io.env);
  const { keyHashPepper, databaseURL } = secrets;
  if (databaseURL === undefined)
    throw new UsageError('KEYFRONT_DATABASE_URL is not set. It must name the PostgreSQL database to copy to.');
  const fileOnly = { keyHashPepper, databaseURL: undefined, quotaURL: undefined };
  // Opening migrates the schema of an older file, and verifies that the key ring belongs to it.
  const services = await openServices(config, fileOnly, {}, { access: 'write', allowMigrated: true });
  try {
    const source = openLockedRows(config.databaseFile);
    try {
      const { database, copied } = await copyTo(io, databaseURL, source, services);
      printJSONResult(io, options, { database, copied: copied ?? null });
      return 0;
    } finally {
      source.close();
    }
  } finally {
    await services.close();
  }
}

/** `copied` is undefined if an earlier run has completed the migration. */
interface Migration {
  readonly database: string;
  readonly copied: Pick<CopyResult, 'keys' | 'entries' | 'credentials'> | undefined;
}

async function copyTo(io: IO, databaseURL: string, source: LockedRows, services: Services): Promise<Migration> {
  // Loaded on demand: other commands do not need the driver.
  const { openForMigration } = await import('../../storage/postgres/engine.js');
  const { createRowTarget } = await import('../../storage/postgres/copy-target.js');
  const target = await openForMigration(databaseURL);
  try {
    if ((await target.settings.get(migratedFrom)) === source.id) {
      io.stderr(
        `The migration is complete: ${target.name} contains this data folder. Nothing was copied again; later changes of ` +
          'the file are not in the database.\n',
      );
      return { database: target.name, copied: undefined };
    }
    await requireOwnCopy(target, source.id);
    const verification = createProgressLine(io, 'keys verified');
    const { problems } = await verifyInstallation(services, verification.show);
    verification.end();
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (problems.length > 0) throw new Error('Nothing was copied: the file is damaged.');
    await target.settings.set(migrationSourceSetting, source.id);
    const progress = createProgressLine(io, 'keys copied');
    const rows = createRowTarget(target.connections);
    const result = await copyStore(source, rows, progress.show, () => source.mark(target.name));
    progress.end();
    io.stderr(summaryOf(result, target.name));
    const { keys, entries, credentials } = result;
    return { database: target.name, copied: { keys, entries, credentials } };
  } finally {
    await target.close();
  }
}

/** @throws {Error} unless the database is empty or contains a part of this data folder */
async function requireOwnCopy(target: Awaited<ReturnType<typeof openForMigration>>, id: string): Promise<void> {
  const { name, settings } = target;
  const sourceID = await settings.get(migrationSourceSetting);
  if (sourceID === id) return;
  if (sourceID !== undefined)
    throw new Error(`The database ${name} contains an incomplete copy of another data folder.`);
  if (!(await isNew(target))) {
    throw new Error(
      `The database ${name} is not empty: it contains an installation that is not a copy of this data folder. ` +
        'Name an empty database.',
    );
  }
}

function summaryOf({ keys, entries, credentials, found }: CopyResult, name: string): string {
  const resumed = found > 0 ? ` (found unchanged: ${countOf(found, 'keys')} of an earlier attempt)` : '';
  return (
    `Copied ${countOf(keys, 'keys')}, ${entries.toLocaleString('en')} history entries and ${countOf(credentials, 'credentials')} to ${name} and read each back${resumed}.\n` +
    'The key ring stays in its place. The file keeps its rows, but services no longer start on it: set ' +
    'KEYFRONT_DATABASE_URL.\n'
  );
}
