import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where webhooks may go: each includes those before it. Plain HTTP goes to loopback and private addresses only. */
export const targetKinds = ['public', 'loopback', 'private'] as const;
export type TargetKind = (typeof targetKinds)[number];

/** Addresses at which clouds publish the credentials of a machine, inside ranges that are private otherwise. */
const cloudMetadata = ['100.100.100.200/32', 'fd00:ec2::/32'].map((range) => ipaddr.parseCIDR(range));
const globalUnicastIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** `::192.0.2.1`, deprecated by RFC 4291, section 2.5.5.1. ipaddr.js reads it as `::ffff:192.0.2.1`. */
const ipv4Compatible = /^::\d+(?:\.\d+){3}$/;

/** The kind of an address; undefined for one that nothing is ever sent to. */
export function kindOfAddress(text: string): TargetKind | undefined {
  if (isIP(text) === 0 || ipv4Compatible.test(text)) return undefined;
  const address = translated(ipaddr.process(text));
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
function translated(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6) || !address.match(ipaddr.IPv6.parseCIDR('64:ff9b::/96'))) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** An address that nothing may be sent to, by its kind. The message names neither address nor name. */
export class RefusedTarget extends Error {}

/** Throws a RefusedTarget in words for people where nothing may be sent to the address over the protocol. */
export function requireTarget(address: string, protocol: string, allowed: TargetKind): void {
  const kind = kindOfAddress(address);
  if (kind === undefined || targetKinds.indexOf(kind) > targetKinds.indexOf(allowed)) {
    throw new RefusedTarget(
      `the address is ${kind === undefined ? 'not one of a receiver' : kind}, which KEYFRONT_WEBHOOKS_TO refuses`,
    );
  }
  if (protocol === 'http:' && kind === 'public') throw new RefusedTarget('plain HTTP goes to no public address');
}

/**
 * Resolves a name as a connection is made, and refuses it where a single one of its addresses is not allowed: what was
 * looked at is what is connected to, whatever the name says a moment later.
 */
export function createLookup(protocol: string, allowed: TargetKind, resolveAll = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, { all: true, family: options.family ?? 0, hints: options.hints ?? 0 }, (error, addresses) => {
      if (error) return callback(error, '');
      const refused = refusalOf(addresses, protocol, allowed);
      const [first] = addresses;
      if (refused || !first) return callback(refused ?? new RefusedTarget('the name has no address'), '');
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

function refusalOf(addresses: readonly LookupAddress[], protocol: string, allowed: TargetKind): Error | undefined {
  try {
    for (const { address } of addresses) requireTarget(address, protocol, allowed);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new RefusedTarget('the name cannot be used');
  }
}

/** The URL of a receiver as it is kept. Throws a RefusedTarget in words for people. */
export function receiverURL(text: string, allowed: TargetKind): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol) || text.length > 2_000) {
    throw new RefusedTarget('it must be an https URL of up to 2000 characters');
  }
  if (url.username !== '' || url.password !== '') {
    throw new RefusedTarget('it must hold no user and no password: the signature says who sends');
  }
  url.hash = '';
  const host = hostOf(url);
  if (isIP(host) !== 0) requireTarget(host, url.protocol, allowed);
  else if (url.protocol === 'http:' && allowed !== 'private' && !(host === 'localhost' && allowed === 'loopback')) {
    throw new RefusedTarget('it must be https, but for a receiver that KEYFRONT_WEBHOOKS_TO lets be near');
  }
  return url;
}

/** The host without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** A URL for people: what may be a token in it is left out. */
export function shownURL({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname === '/' ? '' : '/…'}${search === '' ? '' : '?…'}`;
}
