import { Agent as PlainAgent, request as plainRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TLSAgent, request as tlsRequest } from 'node:https';
import type { Sealer } from '../crypto/encryption.js';
import { version } from '../lib/version.js';
import { createLookup, RejectedAddressError, requireAllowedHost, type AddressKind } from './address-policy.js';
import type { WebhookMessage } from './event.js';
import { parseRetryAfterMs } from './retry-policy.js';
import { signedHeaders } from './signature.js';
import { webhookAAD, type Webhook } from './webhook.js';

/** Result of an attempt. */
export interface AttemptOutcome {
  /** The status of the response; 0 without a response. */
  readonly status: number;
  readonly isDelivered: boolean;
  /** The receiver's `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
  /** Without a part of the URL, and without text from the receiver. */
  readonly description: string;
}

/** Conditions under which an attempt is not made, or is aborted. */
export interface AttemptControl {
  readonly abort: AbortSignal;
  /** Called immediately before the first byte is written: false if another process may have acquired the lease. */
  readonly maySend: () => boolean;
}

/** Signs messages and sends them to one webhook. */
export interface WebhookClient {
  /** Makes one attempt. Never throws. */
  readonly send: (message: WebhookMessage, control: AttemptControl) => Promise<AttemptOutcome>;
  readonly close: () => void;
}

/** Limits and functions of a client. */
export interface WebhookClientOptions {
  readonly allowed: AddressKind;
  readonly timeoutMs: number;
  readonly sealer: Pick<Sealer, 'open'>;
}

/** An attempt without a response, for the reason in the message. */
class AttemptError extends Error {}

/** Only the status of a response is used. Short bodies are read so that the connection can be reused. */
const maxResponseBytes = 16 * 1024;
const idleTimeoutMs = 4_000;

/**
 * Creates the client of one webhook. It follows no redirect, and connects to allowed addresses only.
 *
 * @throws {AppError} INTERNAL when the URL or a secret cannot be decrypted.
 */
export function createWebhookClient(
  { id, sealedURL, sealedSecret, previous }: Webhook,
  { allowed, timeoutMs, sealer }: WebhookClientOptions,
): WebhookClient {
  const url = new URL(sealer.open(sealedURL, webhookAAD(id, 'url')));
  const secret = sealer.open(sealedSecret, webhookAAD(id, 'secret'));
  const older = previous && {
    secret: sealer.open(previous.sealedSecret, webhookAAD(id, 'secret')),
    until: previous.until,
  };
  const isTLS = url.protocol === 'https:';
  const lookup = createLookup(url.protocol, allowed);
  const agent = new (isTLS ? TLSAgent : PlainAgent)({ keepAlive: true, timeout: idleTimeoutMs, maxFreeSockets: 8 });

  function openRequest(message: WebhookMessage, signal: AbortSignal): ClientRequest {
    // Node does not call `lookup` for a literal address.
    requireAllowedHost(url, allowed);
    const nowMs = Date.now();
    const secrets = older && older.until.getTime() > nowMs ? [secret, older.secret] : [secret];
    return (isTLS ? tlsRequest : plainRequest)(url, {
      method: 'POST',
      agent,
      lookup,
      signal,
      ...(isTLS && { minVersion: 'TLSv1.2' as const }),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(message.body),
        'user-agent': `Keyfront/${version}`,
        ...signedHeaders(secrets, message, Math.floor(nowMs / 1000)),
      },
    });
  }

  async function attempt(message: WebhookMessage, { abort, maySend }: AttemptControl): Promise<AttemptOutcome> {
    const request = openRequest(message, abort);
    // Also limits the time in which the body of the response is read.
    const timer = setTimeout(() => request.destroy(new AttemptError('no response in time')), timeoutMs);
    // The lease may end while the connection is opened: check it immediately before the request is written.
    const write = () => void (maySend() ? request.end(message.body) : request.destroy(new AttemptError('aborted')));
    request.on('socket', (socket) => {
      if (request.reusedSocket) write();
      else socket.once(isTLS ? 'secureConnect' : 'connect', write);
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
      request.on('close', () => {
        clearTimeout(timer);
        // A response that switches protocols emits no `response`.
        reject(new AttemptError('no response'));
      });
    });
    drain(response);
    return outcomeOf(response.statusCode ?? 0, response.headers['retry-after']);
  }

  return {
    send: (message, control) => attempt(message, control).catch(failureOf),
    close: () => agent.destroy(),
  };
}

function outcomeOf(status: number, retryAfter: string | undefined): AttemptOutcome {
  const isRedirect = status >= 300 && status < 400;
  return {
    status,
    isDelivered: status >= 200 && status < 300,
    retryAfterMs: parseRetryAfterMs(retryAfter, Date.now()),
    description: `returned ${status}${isRedirect ? '; redirects are not followed' : ''}`,
  };
}

function failureOf(error: unknown): AttemptOutcome {
  return { status: 0, isDelivered: false, description: describeError(error) };
}

function drain(response: IncomingMessage): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) response.destroy();
  });
  response.on('error', () => undefined);
}

/** The code of an error, never its message, which can contain host names and addresses. */
function describeError(error: unknown): string {
  if (error instanceof RejectedAddressError || error instanceof AttemptError) return error.message;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === 'ABORT_ERR') return 'aborted';
  if (code === 'ECONNREFUSED') return 'connection refused';
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? `failed with ${code}` : 'failed';
}
