import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { AppError, errorCodeOf } from '../../lib/errors.js';
import { parseJSON, stringifyJSON } from '../../lib/json.js';
import { toAppError, type ServiceAddress, toConnectionError } from './connection.js';
import type { FollowedChange, KeyClient } from './port.js';
import { documents, HistoryEntry } from './remote.js';

const ChangeEvent = z.object({
  cursor: z.string(),
  keyHash: z.string().nullish(),
  orgID: z.string().nullish(),
  entry: HistoryEntry.nullish(),
});

const maxReconnectDelayMs = 15_000;
const minReconnectDelayMs = 250;
/** The service sends an event or a comment about every 12 seconds. */
const silenceTimeoutMs = 40_000;

/**
 * Creates the function that follows the changes of a service over server-sent events. After a lost connection, it
 * reconnects and continues after the last cursor.
 *
 * @param report - receives a line for each lost connection
 */
export function createServiceFollower(address: ServiceAddress, report: (line: string) => void): KeyClient['follow'] {
  return async function* follow(request, signal) {
    let { after } = request;
    let isConnected = false;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        for await (const result of readResults(address, { ...request, after }, signal)) {
          const change = toFollowedChange(result);
          isConnected = true;
          failures = 0;
          after = change.cursor;
          yield change;
        }
      } catch (error) {
        if (signal.aborted) return;
        const isTransient = error instanceof AppError ? errorCodeOf(error) === 'UNAVAILABLE' : isConnected;
        if (!isTransient) throw error;
      }
      if (signal.aborted) return;
      const delayMs = Math.min(minReconnectDelayMs * 2 ** failures, maxReconnectDelayMs);
      report(`The connection to ${address.baseURL.origin} was lost. Reconnecting in ${delayMs / 1000} s.`);
      await wait(delayMs, undefined, { signal }).catch(() => undefined);
    }
  };
}

/** Converts a result of the subscription. An event that cannot be read has a cursor and an error. */
function toFollowedChange(result: unknown): FollowedChange {
  const { data, errors } = Object(result) as Record<string, unknown>;
  const [error] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const event = ChangeEvent.safeParse((Object(data) as Record<string, unknown>)['orgKeyChanged']);
  if (!event.success) {
    const { message, extensions } = Object(error) as Record<string, unknown>;
    throw toAppError({ ...Object(extensions), message });
  }
  const { cursor, keyHash, orgID, entry } = event.data;
  const change = keyHash && orgID && entry ? { keyHash, orgID, entry } : undefined;
  return { cursor, change, isUnreadable: change === undefined && error !== undefined };
}

/** Subscribes, and yields the results of the event stream until the service completes it. */
async function* readResults(
  { baseURL, headers }: ServiceAddress,
  variables: object,
  signal: AbortSignal,
): AsyncGenerator<unknown, void> {
  const silence = new AbortController();
  const requestSignal = AbortSignal.any([signal, silence.signal]);
  let timer: NodeJS.Timeout | undefined;
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), silenceTimeoutMs);
  };
  try {
    restartTimer();
    const response = await fetch(new URL('./graphql', baseURL), {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body: stringifyJSON({ query: documents.follow, variables }),
      redirect: 'manual',
      signal: requestSignal,
    });
    if (!response.body || !/event-stream/.test(response.headers.get('content-type') ?? '')) {
      throw await toRejection(response, baseURL);
    }
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      restartTimer();
      const messages = `${text}${decoder.decode(chunk, { stream: true })}`.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        if (message.startsWith('event: complete')) return;
        const data = /^data: ?(.*)$/m.exec(message)?.[1];
        if (data) yield parseJSON(data);
      }
    }
  } catch (error) {
    throw error instanceof AppError ? error : toConnectionError(baseURL.origin, error, false);
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** The error of a response that is not an event stream. */
async function toRejection(response: Response, baseURL: URL): Promise<Error> {
  try {
    const body = Object(parseJSON(await response.text())) as Record<string, unknown>;
    const [error] = Array.isArray(body['errors']) ? (body['errors'] as unknown[]) : [];
    const { message, extensions } = Object(error) as Record<string, unknown>;
    if (error !== undefined) return toAppError({ ...Object(extensions), message });
    if (typeof body['code'] === 'string') return toAppError(body);
  } catch {
    // Not JSON: reported below.
  }
  return new Error(`${baseURL.href} is not a Keyfront service (status ${response.status}). Check the URL.`);
}
