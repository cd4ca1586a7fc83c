import { createServer, type Socket } from 'node:net';
import { listenAt } from './listen-at.js';
import { acceptWaiting } from './server.js';

export interface Distributor {
  /** Where it listens, such as `127.0.0.1:4000`. */
  readonly address: string;
  /** Accepts no more connections; resolves when all that had come were given away. */
  readonly stop: () => Promise<void>;
}

/** Listens, and gives every connection away unread. Rejects where the address is taken or not ours. */
export async function distribute(
  where: { readonly host: string; readonly port: number },
  give: (connection: Socket) => void,
): Promise<Distributor> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, give);
  const address = await listenAt(server, where);
  return {
    address,
    stop: async () => {
      await acceptWaiting(server);
      // It would wait for those that were given away, too.
      server.close();
    },
  };
}
