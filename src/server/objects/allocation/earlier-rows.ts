/**
 * Rows in which releases without IPAddresses recorded the cluster IPs of services. They are replaced by IPAddresses at
 * startup.
 */
import { IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { canonicalIp } from '../../../kinds/shapes/meta/canonical-ip.ts';
import type { Cache } from '../cache/cache.ts';
import type { Entry } from '../cache/entry.ts';
import { parseKey } from '../cache/keys.ts';

const ADDRESSES = { group: 'allocations', plural: 'clusterips' };

/** A cluster IP in canonical form, and its service. */
export interface ServiceAddress {
  readonly address: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the addresses that are recorded only in a row. */
export function earlierAddresses(cache: Cache): ServiceAddress[] {
  return cache
    .table(ADDRESSES)
    .entries('')
    .flatMap(({ at, stored }) => {
      const address = canonicalIp(at.name);
      const owner = cache.table(IPAddress).get('', address) ? undefined : parseKey(ownerIn(stored));
      return owner ? [{ address, namespace: owner.namespace, name: owner.name }] : [];
    });
}

/** Returns the row of an address in canonical form. */
export function addressRow(cache: Cache, address: string): Entry | undefined {
  const table = cache.table(ADDRESSES);
  if (table.count('') === 0) return undefined;
  return table.get('', address) ?? table.entries('').find(({ at }) => canonicalIp(at.name) === address);
}

/** Returns the owner of an address; empty for a damaged row. */
function ownerIn(row: Buffer): string {
  return /"owner":"([^"]+)"/.exec(row.toString())?.[1] ?? '';
}
