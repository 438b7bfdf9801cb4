/** Checks whether addresses and ranges are contained in ranges. */
import { formatIp } from './canonical-ip.ts';
import { parseIp } from './ip-address.ts';

/** Returns the canonical form, with the bits of the host cleared; undefined when it is no range. */
export function canonicalRange(text: string): string | undefined {
  const [base = '', length = '', rest] = text.split('/');
  const bytes = parseIp(base);
  const bits = Number(length);
  if (!bytes || rest !== undefined || !/^\d{1,3}$/.test(length) || bits > bytes.length * 8) return undefined;
  return `${formatIp(masked(bytes, bits))}/${bits}`;
}

/** Reports whether an address is in a range. Both are canonical. */
export function isInRange(address: string, range: string): boolean {
  if (address.includes(':') !== range.includes(':')) return false;
  return canonicalRange(`${address}/${bitsOf(range)}`) === range;
}

/** Reports whether a range equals another one or is part of it. Both are canonical. */
export function isPartOfRange(part: string, range: string): boolean {
  return bitsOf(part) >= bitsOf(range) && isInRange(part.slice(0, part.indexOf('/')), range);
}

const bitsOf = (range: string) => Number(range.slice(range.indexOf('/') + 1));

function masked(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}
