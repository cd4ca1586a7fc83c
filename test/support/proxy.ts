import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a server, which can interrupt the network and counts the chunks of clients. */
export interface Proxy {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /** Closes all connections, and rejects new ones until `restore`. */
  cut(): void;
  restore(): void;
  /** Number of open connections, those to the server included. */
  connections(): number;
  /** Number of chunks from clients to the server. A chunk may contain several messages. */
  chunks(): number;
  /** Calls back when the proxy has sent this number of chunks, before it sends the next one. */
  afterChunks(count: number, callback: () => void): void;
  close(): Promise<void>;
}

export async function createProxy(to: string): Promise<Proxy> {
  const url = new URL(to);
  const { hostname, port } = url;
  const sockets = new Set<Socket>();
  let isCut = false;
  let chunks = 0;
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
        // A connection closes only when everything that it has received is read.
        other.unpipe(socket).resume();
        other.end();
      });
    }
    client.on('data', () => {
      chunks += 1;
      if (chunks === callAt) callback();
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
    // URLSearchParams encodes a space as a plus sign, which pg does not decode.
    url: url.href.replaceAll('+', '%20'),
    cut,
    restore: () => {
      isCut = false;
    },
    connections: () => sockets.size,
    chunks: () => chunks,
    afterChunks: (count, then) => {
      [callAt, callback] = [count, then];
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
