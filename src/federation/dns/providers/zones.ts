/** Names of zones and of the records in them. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { nameFrom } from '../../../protocols/dns-message/name.ts';
import { DnsError, type RecordChanges, type RecordSet, recordKey } from '../provider.ts';

/** The name with a trailing dot, in lower case. Throws a DnsError when it is no name. */
export function absoluteName(text: string): string {
  const name = nameFrom(text);
  if (name === undefined) throw new DnsError('Invalid', `"${text}" is not a domain name`);
  return `${name}.`;
}

/** Throws a DnsError when a change concerns a name that is not in the zone. */
export function checkNames({ remove, ensure }: RecordChanges, zone: string): void {
  for (const { name } of [...remove, ...ensure]) {
    if (!name.endsWith(`.${zone}`)) throw new DnsError('Invalid', `${name} is not in the zone ${zone}`);
  }
}

/** Limit of several hundred thousand records: far more than the zones that a federation publishes to. */
const MAX_ZONE_BYTES = 256 * 1024 * 1024;
/** Minimum size that a page or a message counts as: an endless series of empty ones also hits the limit. */
const MIN_BYTES = { page: 64 * 1024, message: 512 } as const;

/** Returns a function to call with the size of each part. It throws a DnsError when the total is too large. */
export function zoneSize(part: keyof typeof MIN_BYTES): (bytes: number) => void {
  let total = 0;
  return (bytes) => {
    total += Math.max(bytes, MIN_BYTES[part]);
    if (total <= MAX_ZONE_BYTES) return;
    throw new DnsError('Unavailable', `the zone has no end: it is larger than ${MAX_ZONE_BYTES} bytes`);
  };
}

/** Joins the values of each name and type. */
export function recordSets(
  records: readonly (Omit<RecordSet, 'values'> & { readonly value: string })[],
): readonly RecordSet[] {
  const sets = new Map<string, Omit<RecordSet, 'values'> & { readonly values: Set<string> }>();
  for (const { name, type, ttlSeconds, value } of records) {
    getOrInsert(sets, recordKey({ name, type }), () => ({ name, type, ttlSeconds, values: new Set() })).values.add(
      value,
    );
  }
  return [...sets.values()].map(({ values, ...rest }) => ({ ...rest, values: [...values].sort() }));
}
