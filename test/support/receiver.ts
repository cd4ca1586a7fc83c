import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** A received message. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly id: string;
    readonly org_id: string;
    readonly key_hash: string;
    readonly operation: string;
    readonly version_before: number;
    readonly version_after: number;
    readonly changes: readonly { readonly path: string; readonly kind: string }[];
    readonly [member: string]: unknown;
  };
  readonly atMs: number;
  /** Whether the response was 2xx. */
  isAccepted: boolean;
}

/** The response to a message: a status, or another behavior of a receiver. */
export type Behavior = (message: Received, response: ServerResponse) => number | Promise<number> | undefined;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All messages, rejected or accepted. */
  readonly received: readonly Received[];
  /** The accepted messages, without duplicates. */
  readonly accepted: () => Received[];
  behavior: Behavior;
  /** Resolves when the accepted messages meet a condition. */
  readonly until: (isMet: (accepted: readonly Received[]) => boolean, timeoutMs?: number) => Promise<void>;
  /** Closes the server. Has no effect on a closed one. */
  readonly close: () => Promise<void>;
}

/** Starts a receiver, and closes it after the running test. */
export async function startOwnReceiver(port?: number): Promise<Receiver> {
  const receiver = await startReceiver(port);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Starts a server on loopback, which accepts every message by default. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let closed: Promise<unknown> | undefined;
  const receiver: Receiver = {
    url: '',
    port: 0,
    received,
    accepted: () => {
      const known = new Set<string>();
      return received.filter(({ id, isAccepted }) => isAccepted && !known.has(id) && known.add(id));
    },
    behavior: () => 204,
    until: async (isMet, timeoutMs = 60_000) => {
      for (const end = Date.now() + timeoutMs; Date.now() < end; await wait(10)) if (isMet(receiver.accepted())) return;
      throw new Error(`The condition was not met; ${receiver.accepted().length} of ${received.length} were accepted.`);
    },
    close: async () => {
      if (!closed) {
        server.closeAllConnections();
        server.close();
        closed = once(server, 'close');
      }
      await closed;
    },
  };

  async function result(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const message = { ...(JSON.parse(body) as Pick<Received, 'type' | 'data'>), headers, body };
    const kept: Received = { ...message, id: headers['webhook-id'] ?? '', atMs: Date.now(), isAccepted: false };
    received.push(kept);
    const status = await receiver.behavior(kept, response);
    if (status === undefined) return;
    kept.isAccepted = status >= 200 && status < 300;
    response.writeHead(status).end();
  }

  const server = createServer((request, response) => {
    result(request, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return Object.assign(receiver, { port: address.port, url: `http://127.0.0.1:${address.port}/keys` });
}

/**
 * Verifies a message with the library of Standard Webhooks. Returns the error message, or undefined if the signature is
 * valid. The library uses the global clock: fake timers set its time.
 */
export function verificationErrorOf(
  secret: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
): string | undefined {
  try {
    new Webhook(secret).verify(body, headers);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

/** Describes the first message whose version is not the next one of its key; undefined if all are in order. */
export function outOfOrder(messages: readonly Received[], first = 1): string | undefined {
  const reached = new Map<string, number>();
  for (const { data } of messages) {
    const before = reached.get(data.key_hash) ?? first - 1;
    if (data.version_after !== before + 1) {
      return `version ${data.version_after} of ${data.key_hash.slice(0, 8)} came after ${before}`;
    }
    reached.set(data.key_hash, data.version_after);
  }
  return undefined;
}
