import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The address of the client: the remote address of the socket, or the one that the outermost of `trustedProxies` proxies
 * added to `X-Forwarded-For`. Entries further left are not trusted and not read.
 */
export function clientAddressOf(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | undefined {
  if (socketAddress === undefined) return undefined;
  const hops = trustedProxies === 0 ? [] : (forwardedFor ?? '').split(',').slice(-trustedProxies).reverse();
  let address = plain(socketAddress);
  for (const hop of hops) {
    const named = plain(hop.trim().replace(/^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/, '$1$2'));
    // A proxy that names no address hides the addresses behind it.
    if (isIP(named) === 0) break;
    address = named;
  }
  return address;
}

/** One spelling for each address: IPv4 in IPv6 (`::ffff:192.0.2.1`) is the IPv4 address, hexadecimal is lower case. */
function plain(address: string): string {
  return isIP(address) === 0 ? address : ipaddr.process(address).toString();
}
