import { createServer, type Socket } from 'node:net';
import { acceptPendingConnections } from './graceful-stop.js';
import { listenAt, type ListenAddress } from './listen-at.js';
import { surviveErrors } from './connection-errors.js';

/** The listener of a cluster, which passes each connection to a worker. */
export interface ConnectionDispatcher {
  /** The address and port, such as `127.0.0.1:4000`. */
  readonly address: string;
  /** Stops accepting connections. Resolves when every connection that was accepted is dispatched. */
  readonly stop: () => Promise<void>;
}

/**
 * Listens at an address and passes each connection to `dispatch` without reading from it.
 *
 * @throws {Error} when the address cannot be used
 */
export async function dispatchConnections(
  at: ListenAddress,
  dispatch: (connection: Socket) => void,
): Promise<ConnectionDispatcher> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (connection) => {
    surviveErrors(connection);
    dispatch(connection);
  });
  const address = await listenAt(server, at);
  return {
    address,
    stop: async () => {
      await acceptPendingConnections(server);
      // Not awaited: `close` would also wait for the dispatched connections.
      server.close();
    },
  };
}
