import { setTimeout as wait } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';
import { AppError } from '../../lib/errors.js';
import { withTimeout } from '../../lib/timeout.js';
import type { Script } from './lua.js';

/** A server of Redis, found again by itself whenever it was lost. */
export interface Redis {
  /** Runs a script that only looks. UNAVAILABLE. */
  readonly look: (script: Script, keys: readonly string[]) => Promise<readonly string[]>;
  /** Runs a script that may write. UNAVAILABLE says whether it may have been run. */
  readonly write: (script: Script, keys: readonly string[], args: readonly string[]) => Promise<readonly string[]>;
  /** Resolves when it can be reached, or has been tried in vain. */
  readonly tried: Promise<void>;
  readonly close: () => Promise<void>;
}

const answerWithinMs = 1_000;
const connectWithinMs = 1_000;
const longestPauseMs = 1_000;
/** What is under way at a time. More than that would wait for so long that nobody wants to know any more. */
const mostUnderWay = 10_000;

type Client = ReturnType<typeof makeClient>;

function makeClient(url: string) {
  return createClient({
    url,
    name: 'keyfront',
    RESP: 2,
    // What is asked while there is no connection fails at once: an answer that comes later helps nobody.
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: connectWithinMs, reconnectStrategy: false },
  });
}

/**
 * `probe` is what a new connection has to be able to do, so that a server that is too old, or lets us do too little, is
 * found out at once. `report` takes a line for people when the server cannot be used, and when it can be again.
 */
export function createRedis(
  url: string,
  probe: { readonly script: Script; readonly keys: readonly string[] },
  report: (line: string) => void,
): Redis {
  let usable: Client | undefined;
  let lose: (reason: Error) => void = () => undefined;
  let isReached: boolean | undefined;
  let underWay = 0;
  const closing = new AbortController();
  const { promise: tried, resolve: hasTried } = Promise.withResolvers<void>();

  function announce(isThere: boolean, reason?: Error): void {
    if (!isThere && isReached !== false && !closing.signal.aborted) {
      report(`The live counters in Redis cannot be reached: ${reason?.message ?? 'the connection ended'}.`);
    }
    if (isThere && isReached === false) report('The live counters in Redis can be reached again.');
    isReached = isThere;
    hasTried();
  }

  async function keepConnected(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const client = makeClient(url);
      const lost = new Promise<Error>((resolve) => {
        lose = resolve;
        client.on('error', (error: unknown) => resolve(forLog(error)));
        client.on('end', () => resolve(new Error('the connection ended')));
      });
      let reason: Error;
      try {
        // A server that hangs takes connections all the same.
        const asked = client
          .connect()
          .then(() => client.sendCommand(['EVAL', probe.script.text, String(probe.keys.length), ...probe.keys]));
        await withTimeout(connectWithinMs, asked, () => tooLate('it does not answer'));
        failures = 0;
        usable = client;
        announce(true);
        reason = await lost;
      } catch (error) {
        reason = forLog(error);
      }
      usable = undefined;
      end(client);
      announce(false, reason);
      await wait(Math.min(20 * 2 ** failures, longestPauseMs), undefined, { signal: closing.signal, ref: false }).catch(
        () => undefined,
      );
    }
  }
  const ended = keepConnected();

  async function run(script: Script, parameters: readonly string[], client: Client): Promise<readonly string[]> {
    underWay += 1;
    try {
      const sent = client.sendCommand<string[]>(['EVALSHA', script.hash, ...parameters]).catch((error: unknown) => {
        if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.sendCommand<string[]>(['EVAL', script.text, ...parameters]);
      });
      return await withTimeout(answerWithinMs, sent, () => tooLate(silence));
    } catch (error) {
      // Whatever else waits for this connection waits in vain.
      if (error instanceof Error && error.message === silence) lose(error);
      throw error;
    } finally {
      underWay -= 1;
    }
  }

  async function attempt(script: Script, parameters: readonly string[], ifUnknown: string): Promise<readonly string[]> {
    const client = usable;
    if (!client) throw unavailable(unreached);
    if (underWay >= mostUnderWay) throw unavailable('The live quota is busy; nothing was counted.');
    try {
      return await run(script, parameters, client);
    } catch (error) {
      throw unavailable(error instanceof ErrorReply ? unreached : ifUnknown, error);
    }
  }

  return {
    look: (script, keys) => attempt(script, [String(keys.length), ...keys], unreached),
    write: (script, keys, args) =>
      attempt(
        script,
        [String(keys.length), ...keys, ...args],
        'The live quota failed, and it is not known whether this was counted.',
      ),
    tried,
    close: async () => {
      closing.abort();
      lose(new Error('closing'));
      await ended;
    },
  };
}

/** Where nothing was sent, or it was refused, or would have changed nothing. */
const unreached = 'The live quota cannot be reached; nothing was counted.';
const silence = 'it does not answer in time';

function tooLate(what: string): never {
  throw new Error(what);
}

function end(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It has ended already.
  }
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', message, {
    retryAfterSeconds: 1,
    ...(cause !== undefined && { cause: forLog(cause) }),
  });
}

/** The words of an error alone: the whole may hold the connection, password and all. */
function forLog(error: unknown): Error {
  if (error instanceof AggregateError) return forLog(error.errors[0]);
  return new Error(error instanceof Error ? error.message : 'it failed for an unknown reason');
}
