import { Agent as PlainAgent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TLSAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { AttemptControl } from './message.js';
import { createLookup, hostOf, RefusedTarget, requireTarget, type TargetKind } from './targets.js';

/** What came of an attempt: the status of the answer, or why there was none, in words of ours. */
export type Outcome =
  { readonly status: number; readonly retryAfter: string | undefined } | { readonly trouble: string };

export interface Sender {
  /** Never rejects. What it answers holds nothing of the URL and nothing of what the receiver has said but its status. */
  readonly send: (headers: Readonly<Record<string, string>>, body: string, control: AttemptControl) => Promise<Outcome>;
  readonly close: () => void;
}

interface Limits {
  readonly allowed: TargetKind;
  readonly answerWithinMs: number;
  readonly userAgent: string;
}

/** Of an answer nothing but the status matters; a short one is read so that its connection can be used again. */
const mostAnswerBytes = 16 * 1024;
const idleMs = 4_000;

/** Posts to one receiver. Follows no redirect, and connects to no address that is not allowed. */
export function createSender(url: URL, { allowed, answerWithinMs, userAgent }: Limits): Sender {
  const isTLS = url.protocol === 'https:';
  const lookup = createLookup(url.protocol, allowed);
  const agent = new (isTLS ? TLSAgent : PlainAgent)({ keepAlive: true, timeout: idleMs, maxFreeSockets: 8 });

  function attempt(
    headers: Readonly<Record<string, string>>,
    body: string,
    { abort, maySend }: AttemptControl,
  ): Promise<Outcome> {
    return new Promise((resolve) => {
      // An address in figures is looked up by nobody.
      const host = hostOf(url);
      if (isIP(host) !== 0) requireTarget(host, url.protocol, allowed);
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
      const end = (outcome: Outcome) => {
        resolve(outcome);
        clearTimeout(timer);
        abort.removeEventListener('abort', onAbort);
      };
      const give = (trouble: string) => {
        end({ trouble });
        request.destroy();
      };
      const timer = setTimeout(() => give('no answer in time'), answerWithinMs);
      const onAbort = () => give('broken off');
      abort.addEventListener('abort', onAbort);
      if (abort.aborted) onAbort();
      request.on('error', (error) => end({ trouble: wordsFor(error, request.reusedSocket) }));
      // An answer that asks for another protocol is none.
      request.on('close', () => end({ trouble: 'no answer' }));
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        end({ status, retryAfter: answered['retry-after'] });
        drain(response, request, answerWithinMs);
      });
      // Nothing is written before there is a connection, and what holds then may not have held when it was asked for.
      const write = () => (maySend() ? void request.end(body) : give('broken off'));
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
        // The receiver had let go of a connection that was kept for more; that says nothing of this message.
        return 'trouble' in outcome && outcome.trouble === staleSocket
          ? await attempt(headers, body, control)
          : outcome;
      } catch (error) {
        return { trouble: wordsFor(error, false) };
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
    if (bytes > mostAnswerBytes) request.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(stop));
}

const staleSocket = 'the connection was closed before its use';

/** The code of an error, and never its message, which may hold names and addresses. */
function wordsFor(error: unknown, wasReused: boolean): string {
  if (error instanceof RefusedTarget) return error.message;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (wasReused && (code === 'ECONNRESET' || code === 'EPIPE')) return staleSocket;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? `failed with ${code}` : 'failed';
}
