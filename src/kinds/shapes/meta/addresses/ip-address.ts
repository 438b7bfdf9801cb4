/** Parsing and checks of IP addresses and ranges. */
import { isIPv4, isIPv6 } from 'node:net';

export type IpFamily = 'IPv4' | 'IPv6';

const NOT_AN_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NOT_A_RANGE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/**
 * Returns the 4 or 16 bytes of an address; undefined if the text is not an address. Leading zeros in an IPv4 address
 * are accepted here, because the check for them has its own message.
 */
export function parseIp(text: string): Uint8Array | undefined {
  const plain = withoutLeadingZeros(text);
  if (isIPv4(plain)) return Uint8Array.from(plain.split('.'), Number);
  return isIPv6(text) && !text.includes('%') ? parseV6(text) : undefined;
}

export function ipFamily(text: string): IpFamily | undefined {
  if (isIPv4(text)) return 'IPv4';
  const bytes = parseIp(text);
  if (!bytes) return undefined;
  return bytes.length === 4 ? 'IPv4' : 'IPv6';
}

/** Problems of an address. */
export function ipProblems(text: string): string[] {
  // Most are like this, in the status of every pod.
  if (isIPv4(text)) return [];
  const bytes = parseIp(text);
  if (!bytes) return [NOT_AN_ADDRESS];
  if (bytes.length === 4 && withoutLeadingZeros(text) !== text) return ['must not have leading 0s'];
  return isMapped(bytes) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

/** Problems of a range such as `10.9.8.0/24`. */
export function cidrProblems(text: string): string[] {
  const [address = '', length = '', ...more] = text.split('/');
  const bytes = parseIp(address);
  const bits = Number(length);
  if (!bytes || more.length > 0 || !/^\d+$/.test(length) || bits > bytes.length * 8) return [NOT_A_RANGE];
  if (String(bits) !== length || (bytes.length === 4 && withoutLeadingZeros(address) !== address)) {
    return ['must not have leading 0s in IP or prefix length'];
  }
  if (isMapped(bytes)) return ['must not have an IPv4-mapped IPv6 address'];
  return hasBitsBeyond(bytes, bits) ? ['must not have bits set beyond the prefix length'] : [];
}

/** Why an address cannot be an endpoint: loopback, link-local and the like. */
export function endpointIpProblems(text: string): string[] {
  const bytes = parseIp(text);
  if (!bytes) return ['must be a valid IP address'];
  const [first = 0, second = 0, third = 0] = bytes;
  const v4 = bytes.length === 4;
  const host = bytes.findIndex((byte) => byte !== 0);
  if (host < 0) return [`may not be unspecified (${text})`];
  if (v4 ? first === 127 : host === 15 && bytes[15] === 1) {
    return ['may not be in the loopback range (127.0.0.0/8, ::1/128)'];
  }
  if (v4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80) {
    return ['may not be in the link-local range (169.254.0.0/16, fe80::/10)'];
  }
  if (v4 ? first === 224 && second === 0 && third === 0 : first === 0xff && (second & 0x0f) === 2) {
    return ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'];
  }
  return [];
}

function withoutLeadingZeros(text: string): string {
  return /^\d+(\.\d+){3}$/.test(text) ? text.replace(/\b0+(?=\d)/g, '') : text;
}

function parseV6(text: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const [head = '', tail] = text.split('::');
  const front = bytesOf(head);
  bytes.set(front);
  if (tail !== undefined) {
    const back = bytesOf(tail);
    bytes.set(back, 16 - back.length);
  }
  return bytes;
}

function bytesOf(groups: string): number[] {
  if (!groups) return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Reports whether an IPv6 address is an IPv4-mapped one, such as `::ffff:1.2.3.4`. */
export function isMapped(bytes: Uint8Array): boolean {
  if (bytes.length !== 16) return false;
  return bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
}

function hasBitsBeyond(bytes: Uint8Array, bits: number): boolean {
  return bytes.some((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return (byte & (0xff >> kept)) !== 0;
  });
}
