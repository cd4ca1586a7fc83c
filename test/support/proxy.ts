import { connect, createServer, type Socket } from 'node:net';

/** A stretch of network before a database server, which can be cut and mended, and on which all that is sent is counted. */
export interface Proxy {
  /** The URL of the server behind it. */
  readonly url: string;
  /** From now on nothing passes, and who is connected is cut off. */
  cut(): void;
  mend(): void;
  /** How many pieces have been sent to the server. What comes at once is one piece, however many messages it has. */
  pieces(): number;
  /** Calls back when so many pieces have been sent, before the next one goes on. */
  afterPieces(count: number, callback: () => void): void;
  close(): Promise<void>;
}

export async function createProxy(to: string): Promise<Proxy> {
  const url = new URL(to);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let isCut = false;
  let pieces = 0;
  let [callAt, callback] = [Infinity, (): void => undefined];
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port || 5432), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.end();
      });
    }
    client.on('data', () => {
      pieces += 1;
      if (pieces === callAt) callback();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port.');
  url.host = `127.0.0.1:${address.port}`;
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    // A space is a plus sign in forms only.
    url: url.href.replaceAll('+', '%20'),
    cut,
    mend: () => {
      isCut = false;
    },
    pieces: () => pieces,
    afterPieces: (count, then) => {
      [callAt, callback] = [count, then];
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
