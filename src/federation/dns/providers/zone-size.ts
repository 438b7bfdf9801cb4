/** Limits the size of a zone while it is read: a broken server may send pages or records without an end. */
import { DnsError } from '../provider.ts';

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
