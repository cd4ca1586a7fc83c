import type { Duplex } from 'node:stream';

/**
 * Listens for the errors of a connection as long as it exists. Node removes its own listener from a connection that it
 * hands over on `connect` or `upgrade`, and an error without a listener would end the process.
 */
export function surviveErrors(connection: Duplex): void {
  connection.on('error', () => connection.destroy());
}
