/** Addresses and ranges in their canonical form, by IP family. */
import { formatIp } from '../../kinds/shapes/meta/addresses/canonical-ip.ts';
import { parseIp } from '../../kinds/shapes/meta/addresses/ip-address.ts';
import { canonicalRange } from '../../kinds/shapes/meta/addresses/ip-range.ts';

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

/** Returns the ranges of a family, canonical: `10.0.0.0/8`. Text that is not a range is left out. */
export function rangesOfFamily(ranges: readonly string[], family: IpFamily): readonly string[] {
  return [...new Set(ranges.flatMap((text) => canonicalRange(text.trim()) ?? []))].filter(
    (range) => familyOf(range) === family,
  );
}
