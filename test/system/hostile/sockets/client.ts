import { connect, type Socket } from 'node:net';
import { connect as connectTLS } from 'node:tls';
import { certificate } from '../../../support/localhost-tls.js';

/** How a client ends its connection: with a TCP reset, or by closing its side only. */
export const cuts = ['reset', 'half-close'] as const;
/** One of {@link cuts}. */
export type Cut = (typeof cuts)[number];

/** A connection of a client. */
export interface Client {
  readonly index: number;
  /** Resolves when the operating system has taken the bytes. */
  readonly send: (bytes: string | Buffer) => Promise<void>;
  /** As `send`, below TLS. */
  readonly sendRaw: (bytes: string) => Promise<void>;
  /** Resolves when the text was received. Rejects when the server closes the connection before. */
  readonly received: (text: string) => Promise<void>;
  /** Reads nothing from now on, until the connection is cut. */
  readonly pause: () => void;
  readonly cut: (how: Cut) => void;
  /** Resolves when the connection is closed, which the server must do after a half-close. */
  readonly closed: Promise<void>;
}

/** The end of what was received, in characters; longer than one read. */
const maxText = 256 * 1024;

/** Connects to a port of loopback. Resolves when the connection is open, without the handshake of TLS. */
export async function openClient(port: number, index: number, isTLS: boolean): Promise<Client> {
  const tcp = connect(port, '127.0.0.1').on('error', () => undefined);
  await new Promise((resolve) => tcp.once('connect', resolve).once('close', resolve));
  if (tcp.destroyed) throw new Error(`The service accepts no connection at port ${port}.`);
  let tls: Socket | undefined;
  // Created by the first use, so that a connection can also be cut before its handshake.
  const stream = () => {
    if (!isTLS) return tcp;
    tls ??= receive(connectTLS({ socket: tcp, servername: 'localhost', ca: certificate }).on('error', () => undefined));
    return tls;
  };
  let text = '';
  let isClosed = false;
  let isCut = false;
  let waiting: (() => void)[] = [];
  const wake = () => {
    for (const check of waiting.splice(0)) check();
  };
  const closed = new Promise<void>((resolve) =>
    tcp.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    }),
  );
  function receive(socket: Socket): Socket {
    return socket.on('data', (chunk: Buffer) => {
      if (isCut) return;
      text = (text + chunk.toString('latin1')).slice(-maxText);
      wake();
    });
  }
  if (!isTLS) receive(tcp);

  const write = (socket: Socket, bytes: string | Buffer) =>
    new Promise<void>((resolve) => void socket.write(bytes, () => resolve()));
  return {
    index,
    send: (bytes) => write(stream(), bytes),
    sendRaw: (bytes) => write(tcp, bytes),
    received: (expected) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (text.includes(expected)) resolve();
          else if (isClosed) reject(new Error(`Closed before ${JSON.stringify(expected)}: ${text.slice(-300)}`));
          else waiting = [...waiting, check];
        };
        check();
      }),
    pause: () => void stream().pause(),
    cut: (how) => {
      isCut = true;
      if (how === 'reset') return void tcp.resetAndDestroy();
      (tls ?? tcp).end();
      (tls ?? tcp).resume();
    },
    closed,
  };
}
