import { createApp } from '../../app.js';
import { readConfig } from '../../config/config.js';
import { serveConnections } from '../../http/server/server.js';
import { createLogger } from '../../lib/log.js';
import type { IO, PrimaryProcess } from '../io.js';
import { createWriteLock } from './write-lock.js';
import { startTelemetry } from './telemetry.js';

/** Serves the connections that the primary hands over, until it says stop, or is gone. */
export async function runWorker(io: IO, primary: PrimaryProcess): Promise<number> {
  const { config, secrets } = readConfig(io.env);
  const watching = await startTelemetry(config, io, createLogger(config.logLevel));
  const { telemetry: watch } = watching;
  const log = createLogger(config.logLevel, undefined, watch.tracer?.ids).child({ pid: io.pid });
  const fault = new Promise<'fault'>((resolve) =>
    io.onUncaughtException?.((thrown) => {
      log.fatal({ err: thrown instanceof Error ? thrown : new Error('A value that is no Error was thrown.') }, 'fault');
      resolve('fault');
    }),
  );
  primary.onMessage((message) => {
    if (message.kind === 'ping') primary.send({ kind: 'pong' });
    if (message.kind === 'metrics wanted') {
      const { id } = message;
      const read = watching.snapshot?.() ?? Promise.resolve([]);
      read.then(
        (snapshot) => primary.send({ kind: 'metrics', id, snapshot }),
        (error: unknown) => log.error({ err: error }, 'metrics cannot be read'),
      );
    }
  });
  let isStopping = false;
  const gone = new Promise<'gone'>((resolve) =>
    primary.onDisconnect(() => {
      if (isStopping) primary.exit();
      resolve('gone');
    }),
  );
  // The primary has created the installation, and decided that it may be used.
  const opening = { access: 'write', allowMigrated: true } as const;
  const app = await createApp(
    config,
    secrets,
    log,
    { isVerified: true, openOptions: opening, inTurn: createWriteLock(primary) },
    watch,
  );
  try {
    const server = serveConnections(app.handle, { ...config, log, telemetry: watch });
    const stopped = new Promise<'stop'>((resolve) =>
      primary.onMessage((message, connection) => {
        if (message.kind === 'connection' && connection) server.accept(connection);
        if (message.kind === 'stop') resolve('stop');
      }),
    );
    primary.send({ kind: 'ready' });
    const reason = await Promise.race([stopped, fault, gone, app.services.failed]);
    isStopping = true;
    app.drain();
    if (reason === 'gone') log.error('the primary process has ended; stopping');
    if (reason instanceof Error) log.fatal({ err: reason }, 'storage failed; stopping');
    if (reason === 'fault' || reason instanceof Error) {
      primary.send({ kind: 'leaving', hasLostStorage: reason instanceof Error });
      // Connections that were on their way to us come before this.
      await Promise.race([stopped, gone]);
    }
    await server.stop();
    return reason === 'stop' ? 0 : 1;
  } finally {
    await app.close();
    await watching.stop();
  }
}
