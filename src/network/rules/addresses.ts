/** Addresses and ranges in their canonical form, by IP family. */
import { formatIp } from '../../kinds/shapes/meta/canonical-ip.ts';
import { parseIp } from '../../kinds/shapes/meta/ip-address.ts';

export type IpFamily = 4 | 6;

/** Returns the canonical form, or undefined when it is no address. */
export function canonicalAddress(text: string): string | undefined {
  const bytes = parseIp(text);
  return bytes && formatIp(bytes);
}

export function familyOf(address: string): IpFamily {
  return address.includes(':') ? 6 : 4;
}

/** The addresses of a family, canonical and without repetition. */
export function ofFamily(addresses: readonly string[], family: IpFamily): readonly string[] {
  const known = addresses.flatMap((text) => canonicalAddress(text.trim()) ?? []);
  return [...new Set(known.filter((address) => familyOf(address) === family))];
}

/** The ranges of a family, canonical: `10.0.0.0/8`. What is no range is left out. */
export function rangesOfFamily(ranges: readonly string[], family: IpFamily): readonly string[] {
  return [...new Set(ranges.flatMap((text) => canonicalRange(text.trim()) ?? []))].filter(
    (range) => familyOf(range) === family,
  );
}

/** Returns the canonical form, with the bits of the host cleared; undefined when it is no range. */
export function canonicalRange(text: string): string | undefined {
  const [base = '', length = '', rest] = text.split('/');
  const bytes = parseIp(base);
  const bits = Number(length);
  if (!bytes || rest !== undefined || !/^\d{1,3}$/.test(length)) return undefined;
  if (bits > (familyOf(base) === 4 ? 32 : 128)) return undefined;
  return `${formatIp(masked(bytes, bits))}/${bits}`;
}

/** Whether an address is in a range. Both are canonical. */
export function isInRange(address: string, range: string): boolean {
  if (familyOf(address) !== familyOf(range)) return false;
  const length = range.slice(range.indexOf('/') + 1);
  return canonicalRange(`${address}/${length}`) === range;
}

function masked(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}
