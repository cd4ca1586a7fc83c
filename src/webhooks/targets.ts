import { lookup as resolve, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Where webhooks may go: each includes those before it. Plain HTTP goes to loopback and private addresses only. */
export const targetKinds = ['public', 'loopback', 'private'] as const;
export type TargetKind = (typeof targetKinds)[number];

type Range = readonly [network: string, prefix: number];

const loopback = listOf([['127.0.0.0', 8]], [['::1', 128]]);
const privateNetworks = listOf(
  [
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
  ],
  [['fc00::', 7]],
);
/** What is no host at all, or tells a machine of a cloud about itself. */
const never = listOf(
  [
    ['0.0.0.0', 8],
    ['100.100.100.200', 32],
    ['169.254.0.0', 16],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ],
  [
    // The first is that of a cloud; two others lead to IPv4 addresses by detours.
    ['fd00:ec2::', 32],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
  ],
);
const publicIPv6 = listOf([], [['2000::', 3]]);

/** What kind of address it is; undefined for one that nothing is ever sent to. */
export function kindOfAddress(address: string): TargetKind | undefined {
  const family = isIP(address);
  if (family === 0) return undefined;
  const embedded = family === 6 ? embeddedIPv4(address) : undefined;
  if (embedded !== undefined) return kindOfAddress(embedded);
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const isIn = (list: BlockList) => list.check(address, type);
  if (isIn(never)) return undefined;
  if (isIn(loopback)) return 'loopback';
  if (isIn(privateNetworks)) return 'private';
  return family === 4 || isIn(publicIPv6) ? 'public' : undefined;
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

/** The IPv4 address that an IPv6 address stands for: mapped, or translated (64:ff9b::/96). */
function embeddedIPv4(address: string): string | undefined {
  // A URL writes every address of IPv6 in one way, the embedded part as two groups.
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]/`);
  const [, high, low] = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
}

function listOf(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6');
  return list;
}
