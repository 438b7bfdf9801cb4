/** The ranges that addresses and ports of services are allocated from. */
import { type IpFamily, ipFamily, parseIp } from '../../../kinds/shapes/meta/addresses/ip-address.ts';

export interface IpRange {
  readonly text: string;
  /** The range in canonical form: `10.96.0.0/16` for `10.96.0.7/16`. */
  readonly cidr: string;
  readonly family: IpFamily;
  /** Number of allocatable addresses: all but the network and broadcast addresses, up to a limit. */
  readonly size: number;
  /** Number of addresses or ports at the start that are left to services that request one, while others are free. */
  readonly reserved: number;
  /** Returns the address at an index from 1 to `size`. */
  at(index: number): string;
  contains(address: string): boolean;
}

/** Limit for the addresses chosen from a larger range, so that indexes stay plain numbers. */
const MAX_ADDRESSES = 2 ** 20;

/** Parses the range of a flag, which must have addresses. */
export function parseIpRange(text: string): IpRange {
  const range = ipRange(text);
  if (!range || range.size < 1) throw new Error(`${text} is not an address range`);
  return range;
}

/** Parses a range; undefined when the text is not one. The smallest ranges have no allocatable address. */
export function ipRange(text: string): IpRange | undefined {
  const [base = '', bits = ''] = text.split('/');
  const family = ipFamily(base);
  const width = family === 'IPv4' ? 32 : 128;
  const prefix = Number(bits);
  if (!family || !/^[0-9]+$/.test(bits) || prefix > width) return undefined;
  const free = BigInt(width - prefix);
  const first = (numberOf(base) >> free) << free;
  const usable = (1n << free) - (family === 'IPv4' ? 2n : 1n);
  const size = usable > BigInt(MAX_ADDRESSES) ? MAX_ADDRESSES : Math.max(0, Number(usable));
  return {
    text,
    cidr: `${textOf(first, family)}/${prefix}`,
    family,
    size,
    reserved: reservedOf(1n << free, { step: 16n, most: 256n }),
    at: (index) => textOf(first + BigInt(index), family),
    contains: (address) => {
      if (ipFamily(address) !== family) return false;
      const offset = numberOf(address) - first;
      return offset >= 1n && offset <= usable;
    },
  };
}

const MIN_RESERVED = 16n;

/** Returns the size of the reserved part, between 16 and `most`; 0 for a range that is no larger than that. */
function reservedOf(size: bigint, { step, most }: { readonly step: bigint; readonly most: bigint }): number {
  if (size <= MIN_RESERVED) return 0;
  const part = size / step;
  return Number(part < MIN_RESERVED ? MIN_RESERVED : part > most ? most : part);
}

export interface PortRange extends Pick<IpRange, 'text' | 'size' | 'reserved'> {
  readonly first: number;
}

export function parsePortRange(text: string): PortRange {
  const match = /^([0-9]{1,5})-([0-9]{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  if (!match || first < 1 || last > 65535 || first > last) throw new Error(`${text} is not a port range`);
  const size = last - first + 1;
  return { text, first, size, reserved: reservedOf(BigInt(size), { step: 32n, most: 128n }) };
}

function numberOf(address: string): bigint {
  return (parseIp(address) ?? new Uint8Array()).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

function textOf(value: bigint, family: IpFamily): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(16 * (7 - i))) & 65535n).toString(16)).join(':');
  // URL parsing normalises IPv6 addresses.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
}
