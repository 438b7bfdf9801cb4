/**
 * Rows in which releases before there were IPAddresses noted the cluster IPs of services. They are replaced by IPAddresses at
 * the start.
 */
import { IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { canonicalIp } from '../../../kinds/shapes/meta/canonical-ip.ts';
import type { Cache } from '../cache/cache.ts';
import type { Entry } from '../cache/entry.ts';
import { parseKey } from '../cache/keys.ts';

const ADDRESSES = { group: 'allocations', plural: 'clusterips' };

/** A cluster IP in canonical form, and the service that has it. */
export interface ServiceAddress {
  readonly address: string;
  readonly namespace: string;
  readonly name: string;
}

/** The addresses that only a row notes. */
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

/** The row of an address in canonical form. */
export function addressRow(cache: Cache, address: string): Entry | undefined {
  const table = cache.table(ADDRESSES);
  if (table.count('') === 0) return undefined;
  return table.get('', address) ?? table.entries('').find(({ at }) => canonicalIp(at.name) === address);
}

/** Empty for a damaged row. */
function ownerIn(row: Buffer): string {
  return /"owner":"([^"]+)"/.exec(row.toString())?.[1] ?? '';
}
