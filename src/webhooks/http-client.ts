import { Agent as PlainAgent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TLSAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import {
  createLookup,
  hostOf,
  RejectedAddressError,
  requireAllowedAddress,
  type AddressKind,
} from './address-policy.js';

/** Result of an attempt: the status of the response, or the error. */
export type AttemptOutcome =
  { readonly status: number; readonly retryAfter: string | undefined } | { readonly error: string };

/** Conditions under which an attempt is not made, or is aborted. */
export interface AttemptControl {
  readonly abort: AbortSignal;
  /** Called immediately before the first byte is written: false if another process may have acquired the lease. */
  readonly maySend: () => boolean;
}

/** Sends requests to one receiver. */
export interface WebhookClient {
  /** Sends a POST request. Never throws. The outcome contains no part of the URL, and nothing from the receiver but its status. */
  readonly send: (
    headers: Readonly<Record<string, string>>,
    body: string,
    control: AttemptControl,
  ) => Promise<AttemptOutcome>;
  readonly close: () => void;
}

/** Limits of a client. */
export interface WebhookClientOptions {
  readonly allowed: AddressKind;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** Only the status of a response is used. Short bodies are read so that the connection can be reused. */
const maxResponseBytes = 16 * 1024;
const idleTimeoutMs = 4_000;

/** Creates a client of one receiver. It follows no redirect, and connects to allowed addresses only. */
export function createWebhookClient(url: URL, { allowed, timeoutMs, userAgent }: WebhookClientOptions): WebhookClient {
  const isTLS = url.protocol === 'https:';
  const lookup = createLookup(url.protocol, allowed);
  const agent = new (isTLS ? TLSAgent : PlainAgent)({ keepAlive: true, timeout: idleTimeoutMs, maxFreeSockets: 8 });

  function attempt(
    headers: Readonly<Record<string, string>>,
    body: string,
    { abort, maySend }: AttemptControl,
  ): Promise<AttemptOutcome> {
    return new Promise((resolve) => {
      // Node does not call `lookup` for a literal address.
      const host = hostOf(url);
      if (isIP(host) !== 0) requireAllowedAddress(host, url.protocol, allowed);
      const request: ClientRequest = (isTLS ? tlsRequest : plainRequest)(url, {
        method: 'POST',
        agent,
        lookup,
        ...(isTLS && { minVersion: 'TLSv1.2' as const }),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': userAgent,
          ...headers,
        },
      });
      const end = (outcome: AttemptOutcome) => {
        resolve(outcome);
        clearTimeout(timer);
        abort.removeEventListener('abort', onAbort);
      };
      const fail = (error: string) => {
        end({ error });
        request.destroy();
      };
      const timer = setTimeout(() => fail('no response in time'), timeoutMs);
      const onAbort = () => fail('aborted');
      abort.addEventListener('abort', onAbort);
      if (abort.aborted) onAbort();
      request.on('error', (error) => end({ error: describeError(error, request.reusedSocket) }));
      // A response that switches protocols emits no `response`.
      request.on('close', () => end({ error: 'no response' }));
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: responseHeaders } = response;
        end({ status, retryAfter: responseHeaders['retry-after'] });
        drain(response, request, timeoutMs);
      });
      // The lease may end while the connection is opened: check it immediately before the request is written.
      const write = () => (maySend() ? void request.end(body) : fail('aborted'));
      request.on('socket', (socket) => {
        if (request.reusedSocket) write();
        else socket.once(isTLS ? 'secureConnect' : 'connect', write);
      });
    });
  }

  return {
    async send(headers, body, control) {
      try {
        const outcome = await attempt(headers, body, control);
        // The receiver closed an idle connection; the request was not processed.
        return 'error' in outcome && outcome.error === staleConnection
          ? await attempt(headers, body, control)
          : outcome;
      } catch (error) {
        return { error: describeError(error, false) };
      }
    },
    close: () => agent.destroy(),
  };
}

function drain(response: IncomingMessage, request: ClientRequest, withinMs: number): void {
  let bytes = 0;
  const stop = setTimeout(() => request.destroy(), withinMs);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) request.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(stop));
}

const staleConnection = 'the connection was closed before its use';

/** The code of an error, never its message, which can contain host names and addresses. */
function describeError(error: unknown, wasReused: boolean): string {
  if (error instanceof RejectedAddressError) return error.message;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (wasReused && (code === 'ECONNRESET' || code === 'EPIPE')) return staleConnection;
  if (code === 'ECONNREFUSED') return 'connection refused';
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? `failed with ${code}` : 'failed';
}
