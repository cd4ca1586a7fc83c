import { existsSync } from 'node:fs';
import { readConfig } from '../config.js';
import { openInstallation } from '../installation.js';
import { move, type Moved } from '../storage/moving.js';
import type { openForMoving } from '../storage/postgres/engine.js';
import { holdRows } from '../storage/sqlite/rows.js';
import { UsageError, type IO } from './io.js';
import { inspect } from './problems.js';
import { createProgress } from './progress.js';

/**
 * Moves all of a data folder's SQLite file into the database that KEYFRONT_DATABASE_URL names, row by row, each read back.
 * The file stays as it is, and nobody can write to it meanwhile. May be broken off and run again.
 */
export async function migrateStore(io: IO): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const { keyHashPepper, databaseURL } = secrets;
  if (databaseURL === undefined) throw new UsageError('KEYFRONT_DATABASE_URL must name the database to move into.');
  if (!existsSync(config.databaseFile)) throw new Error(`There is no file ${config.databaseFile} to move.`);
  // Brings an older file up to date, and makes sure that the key ring is its own.
  const installation = await openInstallation(config, { keyHashPepper, databaseURL: undefined, quotaURL: undefined });
  try {
    const source = holdRows(config.databaseFile);
    try {
      const checking = createProgress(io, 'keys checked');
      const { problems } = await inspect(installation, checking.show);
      checking.end();
      for (const problem of problems) io.say(`${problem}\n`);
      if (problems.length > 0) throw new Error('Nothing was moved: the file is damaged, and its copy would be too.');
      // The driver is loaded by those alone who use it.
      const { movingName, openForMoving } = await import('../storage/postgres/engine.js');
      const { createRowTarget } = await import('../storage/postgres/rows.js');
      const opened = await openForMoving(databaseURL);
      try {
        await claim(opened, movingName, source.id);
        const progress = createProgress(io, 'keys moved');
        const moved = await move(source, createRowTarget(opened.connections, movingName), progress.show);
        progress.end();
        io.say(summary(moved, opened.name));
        return 0;
      } finally {
        await opened.close();
      }
    } finally {
      source.close();
    }
  } finally {
    await installation.close();
  }
}

/** Throws where the database holds anything but a part of this very file. */
async function claim(
  { name, settings, hasRows }: Awaited<ReturnType<typeof openForMoving>>,
  movingName: string,
  id: string,
): Promise<void> {
  const found = await settings.get(movingName);
  if (found === id) return;
  if (found !== undefined) throw new Error(`The database ${name} is being filled from another data folder.`);
  if (hasRows) throw new Error(`The database ${name} is not empty, and nothing is ever moved over what is there.`);
  await settings.set(movingName, id);
}

function summary({ keys, entries, credentials, found }: Moved, name: string): string {
  const again = found > 0 ? ` (${found} keys of an earlier attempt were found the same)` : '';
  return (
    `${keys} keys, ${entries} entries of their history and ${credentials} credentials are in ${name} now, each read back${again}.\n` +
    'The key ring stays where it is. The file stays as it is, and is not written to where KEYFRONT_DATABASE_URL is set.\n'
  );
}
