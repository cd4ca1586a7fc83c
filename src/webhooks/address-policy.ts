import { lookup as resolve } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The values of KEYFRONT_WEBHOOKS_TO: addresses to which webhooks may be sent. Each kind includes those before it. Plain
 * HTTP is limited to loopback and private addresses.
 */
export const addressKinds = ['public', 'loopback', 'private'] as const;
/** One of {@link addressKinds}. */
export type AddressKind = (typeof addressKinds)[number];

/** Addresses of cloud metadata services within private ranges. They return credentials of the machine. */
const cloudMetadata = ['100.100.100.200/32', 'fd00:ec2::/32'].map((range) => ipaddr.parseCIDR(range));
const globalUnicastIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** `::192.0.2.1`, deprecated by RFC 4291, section 2.5.5.1. ipaddr.js reads it as `::ffff:192.0.2.1`. */
const ipv4Compatible = /^::\d+(?:\.\d+){3}$/;

/** Returns the kind of an IP address; undefined if webhooks are never sent to it. */
export function addressKindOf(text: string): AddressKind | undefined {
  if (isIP(text) === 0 || ipv4Compatible.test(text)) return undefined;
  const address = fromNAT64(ipaddr.process(text));
  if (cloudMetadata.some(([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix))) {
    return undefined;
  }
  switch (address.range()) {
    case 'loopback':
      return 'loopback';
    case 'private':
    case 'carrierGradeNat':
    case 'uniqueLocal':
      return 'private';
    case 'unicast':
      return address instanceof ipaddr.IPv6 && !address.match(globalUnicastIPv6) ? undefined : 'public';
    default:
      return undefined;
  }
}

/** The IPv4 address that a NAT64 address (64:ff9b::/96, RFC 6052) stands for; any other address unchanged. */
function fromNAT64(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(ipaddr.IPv6.parseCIDR('64:ff9b::/96'))) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** The address is not permitted. The message contains neither the address nor the host name. */
export class RejectedAddressError extends Error {}

function rejectionOf(address: string, protocol: string, allowed: AddressKind): RejectedAddressError | undefined {
  const kind = addressKindOf(address);
  if (kind === undefined || addressKinds.indexOf(kind) > addressKinds.indexOf(allowed)) {
    const actual = kind ?? 'reserved';
    return new RejectedAddressError(`the address is ${actual}, which KEYFRONT_WEBHOOKS_TO does not permit`);
  }
  if (protocol !== 'http:' || kind !== 'public') return undefined;
  return new RejectedAddressError('plain HTTP to a public address is not permitted');
}

/**
 * Rejects a URL whose host is an address to which webhooks may not be sent. A host name is checked when it is resolved, by
 * {@link createLookup}.
 *
 * @throws {RejectedAddressError} when requests to the address are not permitted over the protocol of the URL.
 */
export function requireAllowedHost(url: URL, allowed: AddressKind): void {
  const host = hostOf(url);
  const rejection = isIP(host) === 0 ? undefined : rejectionOf(host, url.protocol, allowed);
  if (rejection) throw rejection;
}

/**
 * Creates the `lookup` of a connection. It rejects a host name if one of its addresses is not permitted. The connection uses
 * the addresses that were checked, so that a changed DNS record cannot bypass the check (DNS rebinding). Its callback
 * receives a {@link RejectedAddressError}, or the error of the resolver.
 */
export function createLookup(protocol: string, allowed: AddressKind, resolveAll = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { all: true, family: options.family ?? 0, hints: options.hints ?? 0 }, (error, addresses) => {
      if (error) return callback(error, '');
      const [first] = addresses;
      if (!first) return callback(new RejectedAddressError('the name has no address'), '');
      const [rejection] = addresses.flatMap(({ address }) => rejectionOf(address, protocol, allowed) ?? []);
      if (rejection) return callback(rejection, '');
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

const maxURLCharacters = 2_000;

/**
 * Parses the URL of a receiver and drops its fragment.
 *
 * @throws {RejectedAddressError} when the URL is not valid or its address not permitted. The message is for the operator.
 */
export function parseReceiverURL(text: string, allowed: AddressKind): URL {
  // Unpaired surrogates would be replaced, and so be part of another URL.
  const isReadable = text.length <= maxURLCharacters && text.isWellFormed() && URL.canParse(text);
  const url = isReadable ? new URL(text) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol)) {
    throw new RejectedAddressError(
      `it must be an ${allowed === 'public' ? 'https' : 'https or http'} URL of up to ${maxURLCharacters} characters`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new RejectedAddressError('it must contain no user name and no password: the signature identifies the sender');
  }
  url.hash = '';
  requireAllowedHost(url, allowed);
  const host = hostOf(url);
  const isPlainName = url.protocol === 'http:' && isIP(host) === 0;
  if (isPlainName && allowed !== 'private' && !(host === 'localhost' && allowed === 'loopback')) {
    throw new RejectedAddressError('it must be https, except for addresses that KEYFRONT_WEBHOOKS_TO permits');
  }
  return url;
}

/** Returns the host of a URL, without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Returns the URL without its path and query, which may contain a token. */
export function redactedURL({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname === '/' ? '' : '/…'}${search === '' ? '' : '?…'}`;
}
