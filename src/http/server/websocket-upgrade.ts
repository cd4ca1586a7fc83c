import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Enqueue } from './admission-control.js';

/** Opens WebSockets for the server. */
export interface WebSocketUpgrades {
  /** Whether a request is the handshake of a WebSocket that exists. The server ignores other upgrades, as RFC 9110 (7.8) allows. */
  readonly accepts: (request: IncomingMessage) => boolean;
  /** Takes over the connection of a request. `enqueue` admits the operations of its messages like requests. */
  readonly open: (request: IncomingMessage, socket: Duplex, head: Buffer, enqueue: Enqueue) => void;
}

/** Whether a request is the handshake of a WebSocket at a path. */
export function isWebSocketRequest({ method, url = '', headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && url.split('?', 1)[0] === path;
}
