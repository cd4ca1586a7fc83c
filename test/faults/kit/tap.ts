import { connect, createServer, type Socket } from 'node:net';

/** A way to a PostgreSQL server on which all that is sent is counted, so that a moment can be named and come again. */
export interface Tap {
  readonly url: string;
  /** Calls back when so many pieces have been sent, before the next one goes on. */
  readonly afterPieces: (count: number, callback: () => void) => void;
  readonly pieces: () => number;
  readonly close: () => Promise<void>;
}

/** What comes at once counts as one piece, however many messages it has. */
export async function createTap(to: string): Promise<Tap> {
  const url = new URL(to);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let pieces = 0;
  let at = Infinity;
  let callback: () => void = () => undefined;
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.end();
      });
    }
    upstream.on('data', (chunk) => client.write(chunk));
    client.on('data', (chunk) => {
      upstream.write(chunk);
      pieces += 1;
      if (pieces === at) callback();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The tap has no port.');
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href.replaceAll('+', '%20'),
    afterPieces: (count, then) => {
      [at, callback] = [count, then];
    },
    pieces: () => pieces,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
