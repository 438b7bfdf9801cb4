/**
 * Plans the DNS records of a federated service: per zone, per region and globally. A name without healthy shards is a
 * CNAME of the next one up; the global name does not exist then.
 */
import { isIPv6 } from 'node:net';
import { groupBy } from '../../base/collections/group-by.ts';
import { type RecordChanges, type RecordSet, recordKey } from './provider.ts';

/** The service in one member cluster. */
export interface Shard {
  /** Zones of the cluster; it is published in the first one. Without zone and region, it is published globally only. */
  readonly zones: readonly string[];
  readonly region: string | undefined;
  /** True when the cluster is ready and the service has endpoints there. */
  readonly healthy: boolean;
  /** IP addresses of its load balancer. */
  readonly addresses: readonly string[];
}

/** Common parts of the names of all services of a federation. */
export interface FederationDomain {
  readonly federation: string;
  /** Domain that the names end with: `example.com.` */
  readonly domain: string;
}

export interface FederatedServiceName extends FederationDomain {
  readonly service: string;
  readonly namespace: string;
}

/** TTL of the first federation: short enough to move clients away from a failing cluster. */
export const RECORD_TTL_SECONDS = 180;

/** Returns all record sets that the service should have, sorted by name and type. */
export function serviceRecords(name: FederatedServiceName, shards: readonly Shard[]): readonly RecordSet[] {
  const prefix = prefixOf(name);
  const global = `${prefix}.${name.domain}`;
  const records = addressRecords(global, shards);
  if (records.length === 0) return [];
  for (const [region, inRegion] of groupBy(shards, (shard) => shard.region || undefined)) {
    const regional = `${prefix}.${region}.${name.domain}`;
    records.push(...addressesOr(global, regional, inRegion));
    for (const [zone, inZone] of groupBy(inRegion, (shard) => shard.zones[0] || undefined)) {
      records.push(...addressesOr(regional, `${prefix}.${zone}.${region}.${name.domain}`, inZone));
    }
  }
  return records.sort((a, b) => compare(a.name, b.name) || compare(a.type, b.type));
}

/** Returns the changes from the existing records of the service in the zone to the desired ones. */
export function recordChanges(
  name: FederatedServiceName,
  existing: readonly RecordSet[],
  desired: readonly RecordSet[],
): RecordChanges {
  const own = existing.filter((record) => isOf(name, record.name));
  const wanted = new Map(desired.map((record) => [recordKey(record), record]));
  const present = new Map(own.map((record) => [recordKey(record), record]));
  return {
    remove: own.filter((record) => !wanted.has(recordKey(record))).map(({ name: at, type }) => ({ name: at, type })),
    ensure: desired.filter((record) => !isSame(present.get(recordKey(record)), record)),
  };
}

/** Reports whether a record name is one of the service's: global, of a region, or of a zone. */
function isOf(name: FederatedServiceName, record: string): boolean {
  const owner = serviceOfRecord(name, record);
  return owner?.service === name.service && owner.namespace === name.namespace;
}

/** The service that a record name belongs to; undefined when it is not one of the federation. */
export function serviceOfRecord(
  { federation, domain }: FederationDomain,
  record: string,
): FederatedServiceName | undefined {
  if (!record.endsWith(`.${domain}`)) return undefined;
  const [service = '', namespace = '', itsFederation, svc] = record.slice(0, -domain.length - 1).split('.');
  return itsFederation === federation && svc === 'svc' ? { service, namespace, federation, domain } : undefined;
}

function prefixOf({ service, namespace, federation }: Omit<FederatedServiceName, 'domain'>): string {
  return `${service}.${namespace}.${federation}.svc`;
}

/** Returns the addresses of the healthy shards; when there are none, an alias of the next name up. */
function addressesOr(fallback: string, name: string, shards: readonly Shard[]): RecordSet[] {
  const records = addressRecords(name, shards);
  return records.length > 0 ? records : [{ name, type: 'CNAME', ttlSeconds: RECORD_TTL_SECONDS, values: [fallback] }];
}

function addressRecords(name: string, shards: readonly Shard[]): RecordSet[] {
  const addresses = shards.filter(({ healthy }) => healthy).flatMap((shard) => shard.addresses);
  const of = (type: 'A' | 'AAAA') =>
    [...new Set(addresses.filter((address) => isIPv6(address) === (type === 'AAAA')))].sort();
  return (['A', 'AAAA'] as const)
    .map((type) => ({ name, type, ttlSeconds: RECORD_TTL_SECONDS, values: of(type) }))
    .filter(({ values }) => values.length > 0);
}

function isSame(a: RecordSet | undefined, b: RecordSet): boolean {
  return a !== undefined && a.ttlSeconds === b.ttlSeconds && [...a.values].sort().join() === b.values.join();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
