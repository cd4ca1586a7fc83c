import type { AddressInfo, Server } from 'node:net';

/** An address to listen on. Port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The names of the settings of an address, for error messages. */
export interface AddressSettings {
  readonly host: string;
  readonly port: string;
}

/** The settings of the address of the service. */
export const serviceAddressSettings: AddressSettings = { host: 'HOST', port: 'PORT' };

/** The maximum length of the accept queue. A client beyond Node's default of 511 retries after a second. */
const backlog = 4_096;

/**
 * Listens at an address.
 *
 * @returns The address and port, such as `127.0.0.1:4000`.
 * @throws {Error} When the address cannot be used; the message names it, and the setting to change.
 */
export async function listenAt(
  server: Server,
  { host, port }: ListenAddress,
  settings: AddressSettings = serviceAddressSettings,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    // Stays: later errors concern a connection that could not be accepted, such as without a free file descriptor.
    server.on('error', (error) => reject(listenError(error, addressOf(host, port), settings)));
    server.listen({ host, port, backlog }, resolve);
  });
  const { address, port: actual } = server.address() as AddressInfo;
  return addressOf(address, actual);
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function listenError(error: NodeJS.ErrnoException, address: string, settings: AddressSettings): Error {
  const causes: Readonly<Record<string, string>> = {
    EADDRINUSE: `the port is in use. Stop the process that uses it, or set ${settings.port} to another port.`,
    EACCES: `this user may not use the port. Set ${settings.port} to a port from 1024 on.`,
    EADDRNOTAVAIL: `this machine does not have the address. Set ${settings.host} to one of its addresses.`,
    ENOTFOUND: `the name is unknown. Set ${settings.host} to an address of this machine.`,
  };
  return new Error(`Cannot listen on ${address}: ${causes[error.code ?? ''] ?? error.message}`, { cause: error });
}
