/** Locates a federated service in the members: where it can be reached, and whether it is healthy there. Pure. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { isTree, type Tree } from '../../../base/json/tree.ts';
import type { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import { canonicalAddress } from '../../dns/addresses.ts';
import type { Shard } from '../../dns/service-records.ts';
import type { MemberHealth } from '../../plan/plan-object.ts';

export interface MemberService {
  readonly cluster: DeepReadonly<Cluster>;
  readonly health: MemberHealth;
  readonly service: DeepReadonly<Service> | undefined;
  readonly endpoints: DeepReadonly<Endpoints> | undefined;
}

/** Annotation of the first federation on services: the addresses of the clusters where the service is healthy. */
export const SERVICE_INGRESSES = 'federation.kubernetes.io/service-ingresses';

/** Limit for the published addresses of one cluster: more are not needed, and all clusters share the record. */
const MAX_ADDRESSES = 100;
const MAX_HOSTNAME_LENGTH = 253;

/** A cluster that has been silent for a short time keeps its records: it is likely to be back before others have noticed. */
function isHealthy({ health, service, endpoints }: MemberService): boolean {
  const isReachable = health === 'ready' || health === 'away';
  const hasEndpoints = listOf(endpoints?.subsets).some(({ addresses }) => listOf(addresses).length > 0);
  return isReachable && service !== undefined && !service.metadata.deletionTimestamp && hasEndpoints;
}

/** Names of load balancers whose addresses must be looked up. */
export function hostnamesOf(member: MemberService): readonly string[] {
  return ingressOf(member).flatMap(({ ip, hostname }) => (ip || !hostname ? [] : [hostname]));
}

/** Returns the shard of a member. `resolved` has the addresses of host names; a missing host name has none. */
export function shardOf(member: MemberService, resolved: ReadonlyMap<string, readonly string[]>): Shard {
  const { zones = [], region } = member.cluster.status ?? {};
  const addresses = ingressOf(member).flatMap(({ ip, hostname }) => (ip ? [ip] : (resolved.get(hostname ?? '') ?? [])));
  return {
    zones: zones.flatMap((zone) => domainPart(zone) ?? []),
    region: region === undefined ? undefined : domainPart(region),
    healthy: isHealthy(member),
    addresses: addresses.flatMap((address) => canonicalAddress(address) ?? []).slice(0, MAX_ADDRESSES),
  };
}

/** The value of the annotation; undefined when the service is healthy nowhere. */
export function serviceIngresses(members: readonly MemberService[]): string | undefined {
  const items = members
    .filter((member) => isHealthy(member) && ingressOf(member).length > 0)
    .map((member) => ({ cluster: member.cluster.metadata.name ?? '', items: ingressOf(member) }))
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
  return items.length === 0 ? undefined : JSON.stringify({ items });
}

function ingressOf({ service }: MemberService): readonly { readonly ip?: string; readonly hostname?: string }[] {
  const balancers = listOf(service?.status?.loadBalancer?.ingress).slice(0, MAX_ADDRESSES);
  return balancers.flatMap(({ ip, hostname }) => {
    const isName = typeof hostname === 'string' && hostname !== '' && hostname.length <= MAX_HOSTNAME_LENGTH;
    const isAddress = typeof ip === 'string' && canonicalAddress(ip) !== undefined;
    return isAddress || isName ? [{ ip: isAddress ? ip : undefined, hostname: isName ? hostname : undefined }] : [];
  });
}

/** The objects of a list, as a member sent it: nothing is certain about its types. */
function listOf(value: unknown): readonly Tree[] {
  return Array.isArray(value) ? value.filter(isTree) : [];
}

/** A label of a node as part of a domain name; undefined when it cannot be one. */
function domainPart(text: string): string | undefined {
  const name = text.toLowerCase();
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? name : undefined;
}
