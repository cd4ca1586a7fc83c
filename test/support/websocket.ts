import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { StreamedResult } from './event-stream.js';

/** A message of the protocol graphql-transport-ws. */
export interface SocketMessage {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** A WebSocket that returns one message at a time. */
export interface TestSocket {
  readonly send: (message: object) => void;
  /** Resolves to the next message; after the last one, to a message of type `closed`. */
  readonly next: () => Promise<SocketMessage>;
  /** Resolves to the next message of an operation, or to the message of type `closed`. */
  readonly nextOf: (id: string) => Promise<SocketMessage>;
  /** Sends an operation and returns its first message. */
  readonly request: (query: string, variables?: object, id?: string) => Promise<SocketMessage>;
  readonly socket: WebSocket;
}

/** The message of type `closed` for a connection that the server closes. */
export const closedWith = (code: number, reason: unknown = expect.any(String)): object => ({
  type: 'closed',
  payload: { code, reason },
});

/** Opens a WebSocket to a service, and sends no message. */
export async function openSocket(
  url: string,
  headers: Record<string, string> = {},
  protocol = 'graphql-transport-ws',
  tls: { readonly ca?: string } = {},
): Promise<TestSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, protocol, { headers, ...tls });
  const messages: SocketMessage[] = [];
  let wake = () => {};
  const add = (message: SocketMessage) => {
    messages.push(message);
    wake();
  };
  socket.on('message', (data: Buffer) => add(JSON.parse(data.toString('utf8')) as SocketMessage));
  socket.on('close', (code, reason) => add({ type: 'closed', payload: { code, reason: reason.toString('utf8') } }));
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify(message));
  const next = async () => {
    for (;;) {
      const message = messages.shift();
      if (message) return message;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const nextOf = async (id: string) => {
    for (;;) {
      const message = await next();
      if (message.id === id || message.type === 'closed') return message;
    }
  };
  return {
    socket,
    send,
    next,
    nextOf,
    request: (query, variables = {}, id = '1') => {
      send({ id, type: 'subscribe', payload: { query, variables } });
      return nextOf(id);
    },
  };
}

/** Opens a WebSocket and initializes the connection. */
export async function connectSocket(
  url: string,
  params: object = {},
  headers: Record<string, string> = {},
  tls: { readonly ca?: string } = {},
): Promise<TestSocket> {
  const opened = await openSocket(url, headers, undefined, tls);
  opened.send({ type: 'connection_init', payload: params });
  expect(await opened.next()).toEqual({ type: 'connection_ack' });
  return opened;
}

/** The change in a message of type `next`. */
export const changeIn = ({ payload }: SocketMessage) => (payload as StreamedResult).data?.orgKeyChanged;

/** The codes of the errors in a message. */
export function codesIn({ payload }: SocketMessage): unknown[] {
  const { errors } = payload as StreamedResult;
  return errors?.map(({ extensions }) => extensions['code']) ?? [];
}
