import { setTimeout as wait } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';
import { AppError } from '../../lib/errors.js';
import { sentinelsOf, type Sentinels } from '../../config/redis-sentinels.js';
import { withTimeout } from '../../lib/timeout.js';
import type { Script } from './lua.js';

/** A connection to a Redis server, which reconnects by itself. */
export interface Redis {
  /**
   * Runs a script that only reads.
   *
   * @throws {AppError} UNAVAILABLE
   */
  readonly read: (script: Script, keys: readonly string[]) => Promise<readonly string[]>;
  /**
   * Runs a script that may write.
   *
   * @throws {AppError} UNAVAILABLE, with a message that states whether the script may have run.
   */
  readonly write: (script: Script, keys: readonly string[], args: readonly string[]) => Promise<readonly string[]>;
  /** Resolves after the first attempt to connect, whether it succeeded or not. */
  readonly attempted: Promise<void>;
  readonly isConnected: () => boolean;
  readonly close: () => Promise<void>;
}

const responseTimeoutMs = 1_000;
const connectTimeoutMs = 1_000;
const maxDelayMs = 1_000;
/** The maximum number of concurrent commands. More would wait longer than their requests. */
const maxInFlight = 10_000;

type RedisConnection = ReturnType<typeof makeClient>;

function makeClient(url: string) {
  return createClient({
    url,
    name: 'keyfront',
    RESP: 2,
    // A command without a connection fails at once; a later response would miss the deadline of its request.
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
  });
}

/**
 * Connects to a server, or to the primary that Sentinel names, and verifies with the script `probe` that the server is
 * recent enough and grants the required permissions. `report` receives a line for the operator when the server becomes
 * unreachable, and when it is reachable again.
 */
export function createRedis(
  url: string,
  probe: { readonly script: Script; readonly keys: readonly string[] },
  report: (line: string) => void,
): Redis {
  const sentinels = sentinelsOf(url);
  let usable: RedisConnection | undefined;
  let endConnection: (reason: Error) => void = () => undefined;
  let wasReachable: boolean | undefined;
  let inFlight = 0;
  const closing = new AbortController();
  const { promise: attempted, resolve: resolveAttempted } = Promise.withResolvers<void>();

  function announce(isReachable: boolean, reason?: Error): void {
    if (!isReachable && wasReachable !== false && !closing.signal.aborted) {
      report(`The live counters in Redis cannot be reached: ${reason?.message ?? 'the connection ended'}.`);
    }
    if (isReachable && wasReachable === false) report('The live counters in Redis can be reached again.');
    wasReachable = isReachable;
    resolveAttempted();
  }

  async function keepConnected(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const { promise: lost, resolve: end } = Promise.withResolvers<Error>();
      endConnection = end;
      let client: RedisConnection | undefined;
      let reason: Error;
      try {
        client = makeClient(sentinels ? await findPrimary(sentinels, connectTimeoutMs) : url);
        client.on('error', (error: unknown) => end(forLog(error)));
        client.on('end', () => end(new Error('the connection ended')));
        // A server that hangs still accepts connections.
        await withTimeout(connectTimeoutMs, probeServer(client), () => throwError('it does not respond'));
        failures = 0;
        usable = client;
        announce(true);
        reason = await lost;
      } catch (error) {
        reason = forLog(error);
      }
      usable = undefined;
      if (client) destroy(client);
      announce(false, reason);
      await wait(Math.min(20 * 2 ** failures, maxDelayMs), undefined, { signal: closing.signal, ref: false }).catch(
        () => undefined,
      );
    }
  }
  const ended = keepConnected();

  async function probeServer(client: RedisConnection): Promise<void> {
    await client.connect();
    if (sentinels) {
      // Sentinel may name a server that is not the primary any more, or not yet.
      const [role] = await client.sendCommand<[string]>(['ROLE']);
      if (role !== 'master') throw new Error('it is not a primary');
    }
    await client.sendCommand(['EVAL', probe.script.text, String(probe.keys.length), ...probe.keys]);
  }

  async function run(
    script: Script,
    parameters: readonly string[],
    client: RedisConnection,
  ): Promise<readonly string[]> {
    inFlight += 1;
    try {
      const sent = client.sendCommand<string[]>(['EVALSHA', script.hash, ...parameters]).catch((error: unknown) => {
        if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.sendCommand<string[]>(['EVAL', script.text, ...parameters]);
      });
      return await withTimeout(responseTimeoutMs, sent, () => throwError(timedOut));
    } catch (error) {
      // All other commands on this connection would fail too.
      if (error instanceof Error && (error.message === timedOut || isFromReplica(error))) endConnection(error);
      throw error;
    } finally {
      inFlight -= 1;
    }
  }

  async function attempt(script: Script, parameters: readonly string[], ifUnknown: string): Promise<readonly string[]> {
    const client = usable;
    if (!client) throw unavailableError(unreached);
    if (inFlight >= maxInFlight) throw unavailableError('The live quota is busy; nothing was counted.');
    try {
      return await run(script, parameters, client);
    } catch (error) {
      throw unavailableError(error instanceof ErrorReply ? unreached : ifUnknown, error);
    }
  }

  return {
    read: (script, keys) => attempt(script, [String(keys.length), ...keys], unreached),
    write: (script, keys, args) =>
      attempt(
        script,
        [String(keys.length), ...keys, ...args],
        'The live quota failed, and it is not known whether this was counted.',
      ),
    attempted,
    isConnected: () => usable !== undefined,
    close: async () => {
      closing.abort();
      endConnection(new Error('closing'));
      await ended;
    },
  };
}

/** When nothing was sent, or the server rejected it, or it would have written nothing. */
const unreached = 'The live quota cannot be reached; nothing was counted.';
const timedOut = 'it does not respond in time';

/** Whether a server rejected a write because it became a replica. */
function isFromReplica(error: Error): boolean {
  return error instanceof ErrorReply && error.message.startsWith('READONLY');
}

function throwError(message: string): never {
  throw new Error(message);
}

function destroy(client: RedisConnection): void {
  try {
    client.destroy();
  } catch {
    // It has ended already.
  }
}

function unavailableError(message: string, cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', message, {
    retryAfterSeconds: 1,
    ...(cause !== undefined && { cause: forLog(cause) }),
  });
}

/** The message of an error only: the error may contain the connection with its password. */
function forLog(error: unknown): Error {
  if (error instanceof AggregateError) return forLog(error.errors[0]);
  return new Error(error instanceof Error ? error.message : 'it failed for an unknown reason');
}

/**
 * Returns the URL of the primary that the first Sentinel which responds names.
 *
 * @throws {Error} if no Sentinel names a primary
 */
async function findPrimary({ urls, name, primaryURL }: Sentinels, timeoutMs: number): Promise<string> {
  let problem = '';
  for (const url of urls) {
    try {
      const found = await requestPrimary(url, name, timeoutMs);
      if (found) return primaryURL(...found);
      problem = `Sentinel has no primary named ${name}`;
    } catch (error) {
      problem ||= `Sentinel: ${error instanceof Error ? error.message : 'it failed for an unknown reason'}`;
    }
  }
  throw new Error(problem);
}

async function requestPrimary(
  url: string,
  name: string,
  timeoutMs: number,
): Promise<[host: string, port: string] | null> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    const response = client
      .connect()
      .then(() => client.sendCommand<[string, string] | null>(['SENTINEL', 'get-master-addr-by-name', name]));
    return await withTimeout(timeoutMs, response, () => throwError('it does not respond'));
  } finally {
    if (client.isOpen) client.destroy();
  }
}
