/** `ip('10.0.0.1')` and `cidr('10.0.0.0/8')`. */

import { isIP } from 'node:net';
import { member, plain } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { BOOL, INT, opaqueType, STRING } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { OpaqueValue } from '../cel/values/value.ts';
import { type Addressed, containing, NOMINAL, reading } from './costs.ts';

/** 4 or 16 bytes; undefined where the text is no address. */
function parseAddress(text: string): Uint8Array | undefined {
  switch (isIP(text)) {
    case 4:
      return Uint8Array.from(text.split('.').map(Number));
    case 6:
      return text.includes('%') ? undefined : parseIpv6(text);
    default:
      return undefined;
  }
}

function parseIpv6(text: string): Uint8Array {
  const last = text.lastIndexOf(':') + 1;
  const tail = text.slice(last);
  // The last 32 bits may be written as an IPv4 address.
  const groups = tail.includes('.') ? text.slice(0, last) + hexOf(tail) : text;
  const [head = '', rest] = groups.split('::');
  const words = (part: string) => (part ? part.split(':').map((word) => Number.parseInt(word, 16)) : []);
  const [left, right] = [words(head), rest === undefined ? [] : words(rest)];
  const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Uint8Array.from(all.flatMap((word) => [word >> 8, word & 0xff]));
}

function hexOf(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** Formats an address in the canonical form of RFC 5952. */
function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!);
  let [start, length] = [-1, 1];
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (to < 8 && words[to] === 0) to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  const hex = (part: readonly number[]) => part.map((word) => word.toString(16)).join(':');
  return start < 0 ? hex(words) : `${hex(words.slice(0, start))}::${hex(words.slice(start + length))}`;
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && MAPPED.every((byte, i) => bytes[i] === byte);
}

/** The address with all bits behind the prefix cleared. */
function maskAddress(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, i) => {
    const kept = Math.min(8, Math.max(0, bits - 8 * i));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

const IP = opaqueType('net.IP');
const CIDR = opaqueType('net.CIDR');

class IpValue extends OpaqueValue implements Addressed {
  readonly type = IP;

  constructor(readonly address: Uint8Array) {
    super();
  }

  get bytes(): number {
    return this.address.length;
  }

  equals({ address }: IpValue): boolean {
    return sameBytes(this.address, address);
  }
}

class CidrValue extends OpaqueValue implements Addressed {
  readonly type = CIDR;

  constructor(
    readonly address: Uint8Array,
    readonly prefix: number,
  ) {
    super();
  }

  get bytes(): number {
    return Math.ceil(this.prefix / 8);
  }

  equals({ address, prefix }: CidrValue): boolean {
    return this.prefix === prefix && sameBytes(this.address, address);
  }

  contains(address: Uint8Array): boolean {
    if (this.address.length !== address.length) return false;
    return sameBytes(maskAddress(this.address, this.prefix), maskAddress(address, this.prefix));
  }
}

/** The message where a text is no address. */
function ipOf(text: string): IpValue | string {
  const quoted = JSON.stringify(text);
  if (text.includes('%') && parseAddress(text.split('%')[0]!)?.length === 16) {
    return `IP address ${quoted} with zone value is not allowed`;
  }
  const address = parseAddress(text);
  if (!address)
    return `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`;
  return isMapped(address) ? `IPv4-mapped IPv6 address ${quoted} is not allowed` : new IpValue(address);
}

function cidrOf(text: string): CidrValue | string {
  const quoted = JSON.stringify(text);
  const wrong = (why: string) =>
    `network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix(${quoted}): ${why}`;
  const slash = text.lastIndexOf('/');
  if (slash < 0) return wrong("no '/'");
  const head = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  const address = parseAddress(head);
  if (!address) return wrong(`ParseAddr(${JSON.stringify(head)}): unable to parse IP`);
  if (!/^(0|[1-9]\d{0,2})$/.test(bits)) return wrong(`bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > address.length * 8) return wrong('prefix length out of range');
  if (isMapped(address)) {
    return `network address parse error during conversion from string: IPv4-mapped IPv6 address ${quoted} is not allowed`;
  }
  return new CidrValue(address, Number(bits));
}

const orFail = <T>(value: T | string): T => (typeof value === 'string' ? fail(value) : value);

const is = (test: (address: Uint8Array) => boolean) => (ip: IpValue) => test(ip.address);

const isUnspecified = (address: Uint8Array) => address.every((byte) => byte === 0);
const isLoopback = (address: Uint8Array) =>
  address.length === 4 ? address[0] === 127 : address.every((byte, i) => byte === (i === 15 ? 1 : 0));
const isLinkLocalMulticast = (address: Uint8Array) =>
  address.length === 4
    ? address[0] === 224 && address[1] === 0 && address[2] === 0
    : address[0] === 0xff && (address[1]! & 0x0f) === 2;
const isLinkLocalUnicast = (address: Uint8Array) =>
  address.length === 4
    ? address[0] === 169 && address[1] === 254
    : address[0] === 0xfe && (address[1]! & 0xc0) === 0x80;
const isMulticast = (address: Uint8Array) =>
  address.length === 4 ? (address[0]! & 0xf0) === 0xe0 : address[0] === 0xff;
const isGlobalUnicast = (address: Uint8Array) =>
  !(isUnspecified(address) || isLoopback(address) || isMulticast(address) || isLinkLocalUnicast(address)) &&
  !(address.length === 4 && address.every((byte) => byte === 255));

const accessor = (name: string, id: string, test: (address: Uint8Array) => boolean) => ({
  name,
  overloads: [member(id, [IP], BOOL, is(test), NOMINAL)],
});

export const IP_LIBRARY: Library = {
  name: 'kubernetes.net.ip',
  types: [IP],
  functions: [
    { name: 'ip', overloads: [plain('string_to_ip', [STRING], IP, (text) => orFail(ipOf(text)), reading())] },
    { name: 'isIP', overloads: [plain('is_ip', [STRING], BOOL, (text) => typeof ipOf(text) !== 'string', reading())] },
    {
      name: 'ip.isCanonical',
      overloads: [
        plain(
          'ip_is_canonical',
          [STRING],
          BOOL,
          (text) => formatAddress(orFail(ipOf(text)).address) === text,
          reading(2),
        ),
      ],
    },
    { name: 'family', overloads: [member('ip_family', [IP], INT, (ip) => (ip.address.length === 4 ? 4 : 6), NOMINAL)] },
    accessor('isUnspecified', 'ip_is_unspecified', isUnspecified),
    accessor('isLoopback', 'ip_is_loopback', isLoopback),
    accessor('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    accessor('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    accessor('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    { name: 'string', overloads: [plain('ip_to_string', [IP], STRING, (ip) => formatAddress(ip.address))] },
  ],
};

export const CIDR_LIBRARY: Library = {
  name: 'kubernetes.net.cidr',
  types: [CIDR],
  functions: [
    { name: 'cidr', overloads: [plain('string_to_cidr', [STRING], CIDR, (text) => orFail(cidrOf(text)), reading())] },
    {
      name: 'isCIDR',
      overloads: [plain('is_cidr', [STRING], BOOL, (text) => typeof cidrOf(text) !== 'string', reading())],
    },
    {
      name: 'containsIP',
      overloads: [
        member(
          'cidr_contains_ip_string',
          [CIDR, STRING],
          BOOL,
          (cidr, text) => cidr.contains(orFail(ipOf(text)).address),
          containing({ network: false, text: true }),
        ),
        member(
          'cidr_contains_ip_ip',
          [CIDR, IP],
          BOOL,
          (cidr, ip) => cidr.contains(ip.address),
          containing({ network: false, text: false }),
        ),
      ],
    },
    {
      name: 'containsCIDR',
      overloads: [
        member(
          'cidr_contains_cidr_string',
          [CIDR, STRING],
          BOOL,
          (cidr, text) => containsCidr(cidr, orFail(cidrOf(text))),
          containing({ network: true, text: true }),
        ),
        member('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCidr, containing({ network: true, text: false })),
      ],
    },
    { name: 'ip', overloads: [member('cidr_ip', [CIDR], IP, ({ address }) => new IpValue(address), NOMINAL)] },
    { name: 'prefixLength', overloads: [member('cidr_prefix_length', [CIDR], INT, ({ prefix }) => prefix, NOMINAL)] },
    {
      name: 'masked',
      overloads: [
        member(
          'cidr_masked',
          [CIDR],
          CIDR,
          ({ address, prefix }) => new CidrValue(maskAddress(address, prefix), prefix),
          NOMINAL,
        ),
      ],
    },
    {
      name: 'string',
      overloads: [
        plain('cidr_to_string', [CIDR], STRING, ({ address, prefix }) => `${formatAddress(address)}/${prefix}`),
      ],
    },
  ],
};

function containsCidr(outer: CidrValue, inner: CidrValue): boolean {
  return outer.prefix <= inner.prefix && outer.contains(inner.address);
}
