import { AppError } from '../../lib/errors.js';
import { createFeedNotifier } from '../sql/change-feed.js';
import { InstallationNotFoundError, type Access, type Storage, type DatabaseHandle } from '../storage.js';
import type { ChangeNotifier } from '../sql/change-notifier.js';
import { migrationSourceSetting } from '../sql/copy-store.js';
import { createSettings, readContents } from '../sql/settings.js';
import { urlsOfHosts } from '../../lib/postgres-hosts.js';
import { withTimeout } from '../../lib/timeout.js';
import type { SqlSession } from '../sql/session.js';
import { wideReadLimits, createPgPool, type PgPool, type Session } from './pool.js';
import { forLog, classifyForRetry } from './errors.js';
import { createKeyWriter } from './key-writer.js';
import { requireSchema, schemaVersion } from '../sql/schema.js';
import { migrate, raiseFeedOffset, versionOf } from './migrate.js';
import { acquireDatabaseLock } from './advisory-lock.js';
import { createPgSession } from './session.js';
import { createPgNotifier } from './notifier.js';
import { createPgWideReader } from './wide-reader.js';
import { createKeyRowStatements } from '../sql/keys/key-rows.js';
import { createSqlStores } from '../sql/stores.js';

/** The polling interval, for when a notification was lost. */
const pollIntervalMs = 1_000;

/**
 * Opens a database of a PostgreSQL server as far as `access` permits. One process at a time migrates, until it begins.
 *
 * @throws {InstallationNotFoundError} when the database holds none and it may not be created.
 * @throws {Error} that names the database, and never its password.
 */
export async function openPostgres(url: string, access: Access = 'create'): Promise<DatabaseHandle> {
  const opened = await openForMigration(url, access);
  try {
    const source = await opened.settings.get(migrationSourceSetting);
    if (source === undefined) return opened;
    throw new Error(
      `The database ${opened.name} holds a part of a data folder only. Run \`keyfront migrate-store\` again.`,
    );
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Opens a database that `migrate-store` fills, which may hold a part of a data folder. */
export async function openForMigration(
  url: string,
  access: Access = 'create',
): Promise<DatabaseHandle & { readonly connections: PgPool }> {
  const name = nameOf(url);
  const isReadOnly = access === 'read';
  const connections = createPgPool(url, 'keyfront', { isReadOnly });
  const wide = createPgPool(url, 'keyfront', { ...wideReadLimits, isReadOnly });
  let releaseLock = () => Promise.resolve();
  let stopFollowing: () => void = () => undefined;
  const close = async () => {
    stopFollowing();
    await releaseLock();
    await wide.close();
    await connections.close();
  };
  try {
    if (access !== 'read') releaseLock = await acquireDatabaseLock(connections);
    const [content] = await connections.run(async (session) => {
      requireSuitable(await session.query<ServerState>(selectServerState));
      await prepareSchema(session, access, name);
      return session.query<{ hasKeys: boolean; hasOthers: boolean }>(
        `SELECT EXISTS (SELECT FROM keys) AS "hasKeys",
           EXISTS (SELECT FROM credentials) OR EXISTS (SELECT FROM webhooks) AS "hasOthers"`,
      );
    });
    const session = createPgSession(connections);
    return {
      name,
      hasKeys: content?.hasKeys === true,
      hasRows: content?.hasKeys === true || content?.hasOthers === true,
      settings: createSettings(session),
      start: async (signer, deps) => {
        await releaseLock();
        releaseLock = () => Promise.resolve();
        const { listen, notify } = createPgNotifier(url, connections);
        const notifier = createFeedNotifier(session, { everyMs: pollIntervalMs, listen });
        stopFollowing = notifier.stop;
        const hint = () => {
          notifier.hint();
          notify();
        };
        return createEngine(connections, wide, session, { ...notifier, hint }, signer, deps);
      },
      close,
      connections,
    };
  } catch (error) {
    await close();
    throw error instanceof InstallationNotFoundError ? error : unusable(name, error);
  }
}

async function prepareSchema(session: Session, access: Access, name: string): Promise<void> {
  const version = access === 'create' ? undefined : await versionOf(session);
  if (version === 0) throw noInstallation(name);
  if (access === 'read') return requireSchema(version ?? 0);
  await migrate(session);
  await raiseFeedOffset(session);
}

function noInstallation(name: string): InstallationNotFoundError {
  return new InstallationNotFoundError(
    `There is no installation in the database ${name}: it is empty. ` +
      'Set KEYFRONT_DATABASE_URL to the database of your installation. `keyfront serve` creates a new one.',
  );
}

/** The reason why opening failed, for the operator. Errors for callers do not contain it. */
function unusable(name: string, error: unknown): Error {
  const reason = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
  const known = classifyForRetry(reason) === undefined && reason instanceof Error ? reason : forLog(reason);
  return new Error(`The database ${name} cannot be used: ${known.message}`, { cause: known });
}

interface ServerState {
  readonly version: number;
  readonly encoding: string;
  readonly is_standby: boolean;
}

/** The first version with 64-bit transaction numbers, which do not wrap around. */
const minVersion = 13;

const selectServerState = `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby`;

function requireSuitable([server]: readonly ServerState[]): void {
  if ((server?.version ?? 0) < minVersion) {
    throw new Error(`the server is PostgreSQL ${server?.version}, and ${minVersion} or later is needed`);
  }
  if (server?.encoding !== 'UTF8') throw new Error(`its encoding is ${server?.encoding}, and has to be UTF8`);
  if (server.is_standby) throw new Error('it is a standby, which takes no change');
}

/** The database and its hosts, without the user and the password. */
function nameOf(url: string): string {
  const urls = urlsOfHosts(url).map((one) => new URL(one));
  return `${decodeURIComponent(urls[0]?.pathname.slice(1) ?? '')} on ${urls.map(({ host }) => host).join(', ')}`;
}

const probeTimeoutMs = 1_500;

function createEngine(
  connections: PgPool,
  wide: PgPool,
  session: SqlSession,
  notifier: ChangeNotifier,
  ...[signer, { now, telemetry, slices }]: Parameters<DatabaseHandle['start']>
): Storage {
  const { run } = connections;
  const rows = createKeyRowStatements(session.dialect, signer);
  const stores = createSqlStores(
    {
      session,
      rows,
      writer: createKeyWriter(connections, rows, slices, telemetry.meter),
      tracer: telemetry.tracer,
      reader: createPgWideReader(connections),
      wideReader: createPgWideReader(wide),
      slices,
      notifier,
    },
    signer,
  );

  async function whyUnusable(): Promise<string | undefined> {
    try {
      if ((await run(versionOf)) < schemaVersion) return 'the database has the schema of an older version';
      await stores.settings.set('probe', now().toISOString());
      return undefined;
    } catch (error) {
      const cause = error instanceof AppError && error.cause instanceof Error ? error.cause : forLog(error);
      return `the database accepts no writes (${cause.message})`;
    }
  }

  return {
    ...stores,
    whyNotReady: () => withTimeout(probeTimeoutMs, whyUnusable(), () => 'the database does not respond'),
    // Connections to a server are renewed by the pool; a restart of this process would change nothing.
    checkWritable: () => Promise.resolve(true),
    checkFiles: () => Promise.resolve(),
    failed: new Promise<Error>(() => undefined),
    // The files of a server are not accessible; `verifyIntegrity` reads every row.
    damages: () => Promise.resolve([]),
    contents: async () => ({ schemaVersion: await run(versionOf), ...(await readContents(session)) }),
    copyTo: () =>
      Promise.reject(
        new Error('A backup copies a SQLite file. PostgreSQL has pg_dump, and its own continuous archiving.'),
      ),
    load: (work) => work(),
  };
}
