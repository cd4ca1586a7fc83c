import { resolve } from 'node:path';
import { readConfig } from '../config/config.js';
import { describeSettings } from '../config/settings.js';
import type { Services } from '../storage/open-storage.js';
import type { openForMigration } from '../storage/postgres/engine.js';
import { copyStore, migratedFrom, migrationSourceSetting, type CopyResult } from '../storage/sql/copy-store.js';
import { openLockedRows, type LockedRows } from '../storage/sqlite/copy-source.js';
import { isNew } from '../storage/storage.js';
import { requireIntact } from './check.js';
import { withOpen, withServices, rejectServiceURL } from './client/open.js';
import { type CLICommand, type OptionValues, storageVariables } from './command.js';
import { type IO, UsageError } from './io.js';
import { toJSONLine, countOf, jsonOption, printJSONResult, createProgressLine } from './output.js';
import { issueFirstCredentials } from './serve/first-start.js';

export const serveCommand: CLICommand = {
  name: 'serve',
  summary: 'Start the server: GraphQL, REST key API and GraphiQL',
  description:
    'The first start creates the data folder, issues a management and a service credential, and prints each once; with NODE_ENV=production, it writes them to a file that only this user can read. To stop, press Ctrl-C or send SIGTERM: the server completes the requests in progress and exits.',
  options: {
    sample: { description: 'Also import three sample keys' },
    'allow-migrated': {
      description: 'Serve the data folder although `migrate-store` has copied it to a database server',
    },
    'allow-new': {
      description:
        'Create an installation although the data folder contains one (with a database server) or only its key ring',
    },
    workers: {
      value: 'N',
      description: 'Number of worker processes, 1 to 64; with SQLite, one writes at a time (default 1)',
    },
  },
  exitCodes: { 0: 'stopped by a signal', 1: 'failed to start, or stopped after a failure' },
  examples: ['NODE_ENV=production HOST=0.0.0.0 KEYFRONT_DATA=/var/lib/keyfront keyfront serve'],
  environment: Object.keys(describeSettings()),
  // Loaded on demand: the server is most of the code, and other commands start faster without it.
  run: async (io, options) => (await import('./serve/serve.js')).serve(io, options),
};

export const initCommand: CLICommand = {
  name: 'init',
  summary: 'Create an installation: data folder, key ring and first credentials',
  description:
    'Starts no service. Prints a management and a service credential once; with NODE_ENV=production, writes them to a file that only this user can read. Without this command, the first `serve` does the same.',
  options: { json: jsonOption },
  exitCodes: { 1: 'the installation exists already, or cannot be created' },
  examples: ['NODE_ENV=production KEYFRONT_DATA=/var/lib/keyfront keyfront init'],
  environment: [...storageVariables, 'NODE_ENV'],
  run: init,
};

async function init(io: IO, { json: isJSON }: OptionValues): Promise<number> {
  return withServices(io, { access: 'create' }, async (services, { config, secrets }) => {
    if (!(await services.isNew())) {
      io.stderr('The installation exists already. `keyfront credentials issue` issues another credential.\n');
      return 1;
    }
    const first = await issueFirstCredentials(services, config);
    const keyRing = resolve(config.keyRingFile);
    const database = secrets.databaseURL === undefined ? resolve(config.databaseFile) : 'that of KEYFRONT_DATABASE_URL';
    io.stderr(
      `Created an installation.\n  database  ${database}\n  key ring  ${keyRing}\nBack up the key ring separately: without it, no backup can be decrypted. Start the service with \`keyfront serve\`.\n`,
    );
    if ('file' in first) io.stderr(`The first credentials are in ${first.file}. Save them, and delete the file.\n`);
    else io.stderr('Save these two credentials now; they are not shown again:\n');
    if (isJSON === true) {
      const paths = { ...(secrets.databaseURL === undefined && { database }), key_ring: keyRing };
      io.stdout(`${toJSONLine({ ...paths, ...('file' in first ? { credentials_file: first.file } : first) })}\n`);
    } else if (!('file' in first)) {
      io.stdout(`management ${first.management}\nservice ${first.service}\n`);
    }
    return 0;
  });
}

export const migrateStoreCommand: CLICommand = {
  name: 'migrate-store',
  summary: 'Copy the data folder to the PostgreSQL database of KEYFRONT_DATABASE_URL',
  description:
    'Stop the service first: no other process can write to the file meanwhile. Every row is read back and compared. The file keeps its rows and is marked as migrated, so that services do not start on it (`serve --allow-migrated` permits it). The command may be interrupted and run again.',
  options: { json: jsonOption },
  examples: ['KEYFRONT_DATABASE_URL=postgres://keyfront@db.internal/keyfront keyfront migrate-store'],
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
  const opening = { access: 'write', allowMigrated: true } as const;
  return withOpen({ config, secrets: fileOnly }, opening, async (services) => {
    const source = openLockedRows(config.databaseFile);
    try {
      const { database, copied } = await copyTo(io, databaseURL, source, services);
      printJSONResult(io, options, { database, copied: copied ?? null });
      return 0;
    } finally {
      source.close();
    }
  });
}

/** `copied` is undefined if an earlier run has completed the migration. */
interface Migration {
  readonly database: string;
  readonly copied: Pick<CopyResult, 'keys' | 'entries' | 'credentials'> | undefined;
}

async function copyTo(io: IO, databaseURL: string, source: LockedRows, services: Services): Promise<Migration> {
  // Loaded on demand: other commands do not need the driver.
  const { openForMigration } = await import('../storage/postgres/engine.js');
  const { createRowTarget } = await import('../storage/postgres/copy-target.js');
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
    await requireIntact(io, services, 'Nothing was copied: the file is damaged.');
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
