/** Tells addresses of the public or cluster network from special ones, whose meaning depends on the machine. Pure. */
import { BlockList, isIP } from 'node:net';
import { memoized } from '../../collections/memoized.ts';

/** `unicast`: an ordinary address. Everything else means this machine, its link, or more than one machine. */
export type AddressClass = 'unicast' | 'loopback' | 'link-local' | 'multicast' | 'unspecified';

interface Range {
  readonly address: string;
  readonly bits: number;
}

/** Ranges in the order of matching: `::1` is also in the range of IPv4-compatible addresses of `0.0.0.0/8`. */
const RANGES: readonly (readonly [AddressClass, readonly Range[]])[] = [
  ['loopback', [range('127.0.0.0', 8), range('::1', 128)]],
  ['unspecified', [range('0.0.0.0', 8), range('::', 128)]],
  ['link-local', [range('169.254.0.0', 16), range('fe80::', 10)]],
  ['multicast', [range('224.0.0.0', 4), range('255.255.255.255', 32), range('ff00::', 8)]],
];

/** Makes each list when the first address is classified: Node takes long for it, and most commands dial nothing. */
const listFor = memoized(listOf);

/**
 * Classifies an IP address. An IPv6 spelling of an IPv4 address has the class of the IPv4 address. Returns undefined
 * for text that is not an address.
 */
export function classOf(address: string): AddressClass | undefined {
  const plain = withoutZone(address);
  if (isIP(plain) === 0) return undefined;
  return RANGES.find(([, ranges]) => contains(listFor(ranges), plain))?.[0] ?? 'unicast';
}

/** Ranges such as `10.0.0.0/8`, and single addresses. Throws for anything else. */
export function addressList(texts: Iterable<string>): BlockList {
  const ranges: Range[] = [];
  for (const text of texts) {
    const [address = '', bits] = withoutZone(text).split('/');
    ranges.push(range(address, bits === undefined ? (isIP(address) === 4 ? 32 : 128) : Number(bits)));
  }
  return listOf(ranges);
}

/** Reports whether the list contains an address; false for text that is not an address. */
export function contains(list: BlockList, address: string): boolean {
  const plain = withoutZone(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const { address, bits } of ranges) {
    if (isIP(address) !== 4) {
      list.addSubnet(address, bits, 'ipv6');
      continue;
    }
    // IPv4-mapped addresses are compared with this range as well.
    list.addSubnet(address, bits, 'ipv4');
    for (const spelling of ipv6Spellings(address, bits)) list.addSubnet(spelling.address, spelling.bits, 'ipv6');
  }
  return list;
}

/** The other IPv6 ranges that map to an IPv4 range. */
function ipv6Spellings(ipv4: string, bits: number): readonly Range[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return [
    range(`::${groups}`, 96 + bits), // IPv4-compatible (RFC 4291)
    range(`::ffff:0:${groups}`, 96 + bits), // IPv4-translated (RFC 2765)
    range(`64:ff9b::${groups}`, 96 + bits), // NAT64 (RFC 6052)
    range(`64:ff9b:1::${groups}`, 96 + bits), // NAT64 with a prefix of the site (RFC 8215)
    range(`2002:${groups}::`, 16 + bits), // 6to4 (RFC 3056)
  ];
}

function range(address: string, bits: number): Range {
  return { address, bits };
}

/** Strips the zone: `fe80::1%eth0` names an interface as well. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone < 0 ? address : address.slice(0, zone);
}
