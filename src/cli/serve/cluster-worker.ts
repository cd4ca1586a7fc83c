import { createApp } from '../../app.js';
import { readConfig } from '../../config/config.js';
import { serveConnections } from '../../http/server/server.js';
import { createLogger, type Logger } from '../../lib/log.js';
import type { IO } from '../io.js';
import { trackUncaughtExceptions } from './start.js';
import { startTelemetry, type RunningTelemetry } from './telemetry.js';
import type { PrimaryProcess } from './worker-channel.js';
import { createWriteLock } from './write-lock.js';

/** The argument of a worker that may serve a file which was copied to a database. */
export const allowMigratedArgument = '--allow-migrated';

/** Serves the connections that the primary sends, until the primary sends `stop` or disconnects. */
export async function runWorker(io: IO, primary: PrimaryProcess, args: readonly string[]): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const running = await startTelemetry(config, io, createLogger(config.logLevel));
  const { telemetry } = running;
  const log = createLogger(config.logLevel, undefined, telemetry.tracer?.ids).child({ pid: io.pid });
  const uncaught = trackUncaughtExceptions(io, log).first.then(() => 'uncaught exception' as const);
  respondToPrimary(primary, running, log);
  let isStopping = false;
  const disconnected = new Promise<'disconnected'>((resolve) =>
    primary.onDisconnect(() => {
      if (isStopping) primary.exit();
      resolve('disconnected');
    }),
  );
  // The primary has created the installation, which may have been copied to a database since.
  const openOptions = { access: 'write', allowMigrated: args.includes(allowMigratedArgument) } as const;
  const overrides = { isVerified: true, openOptions, runExclusive: createWriteLock(primary) };
  const app = await createApp(config, secrets, log, overrides, telemetry);
  try {
    const {
      webSockets,
      services: { scheduler },
    } = app;
    const server = serveConnections(app.handle, { ...config, log, scheduler, telemetry, webSockets });
    const stopped = new Promise<'stop'>((resolve) =>
      primary.onMessage((message, connection) => {
        if (message.kind === 'connection' && connection) server.accept(connection);
        if (message.kind === 'stop') resolve('stop');
      }),
    );
    primary.send({ kind: 'ready' });
    const reason = await Promise.race([stopped, uncaught, disconnected, app.services.failed]);
    isStopping = true;
    app.drain();
    if (reason === 'disconnected') log.error('the primary process has ended; stopping');
    if (reason instanceof Error) log.fatal({ err: reason }, 'storage failed; stopping');
    if (reason === 'uncaught exception' || reason instanceof Error) {
      primary.send({ kind: 'leaving', hasLostStorage: reason instanceof Error });
      // `stop` arrives after the connections that the primary has already sent.
      await Promise.race([stopped, disconnected]);
    }
    await server.stop();
    return reason === 'stop' ? 0 : 1;
  } finally {
    await app.close();
    await running.stop();
  }
}

/** Responds to pings, and to requests for metrics. */
function respondToPrimary(primary: PrimaryProcess, running: RunningTelemetry, log: Logger): void {
  primary.onMessage((message) => {
    if (message.kind === 'ping') primary.send({ kind: 'pong' });
    if (message.kind !== 'metrics requested') return;
    const { id } = message;
    const snapshot = running.snapshot?.() ?? Promise.resolve([]);
    snapshot.then(
      (metrics) => primary.send({ kind: 'metrics', id, snapshot: metrics }),
      (error: unknown) => log.error({ err: error }, 'cannot read metrics'),
    );
  });
}
