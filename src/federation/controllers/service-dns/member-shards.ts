/** What a federated service is in the members: where it can be reached, and whether it is healthy there. Pure. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';
import type { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import { canonicalAddress } from '../../dns/addresses.ts';
import type { Shard } from '../../dns/service-records.ts';
import type { MemberHealth } from '../../plan/plan-object.ts';

/** The service in one member, as it was last seen there. */
export interface MemberService {
  readonly cluster: DeepReadonly<Cluster>;
  readonly health: MemberHealth;
  readonly service: DeepReadonly<Service> | undefined;
  readonly endpoints: DeepReadonly<Endpoints> | undefined;
}

/** What the first federation wrote on services: the addresses of the clusters where the service is healthy. */
export const SERVICE_INGRESSES = 'federation.kubernetes.io/service-ingresses';

/** A cluster that has been silent for a short time keeps its records: it is likely to be back before others have noticed. */
function isHealthy({ health, service, endpoints }: MemberService): boolean {
  const isReachable = health === 'ready' || health === 'away';
  const hasEndpoints = endpoints?.subsets?.some(({ addresses }) => (addresses?.length ?? 0) > 0) === true;
  return isReachable && service !== undefined && !service.metadata.deletionTimestamp && hasEndpoints;
}

/** Names of load balancers whose addresses must be looked up. */
export function hostnamesOf(member: MemberService): readonly string[] {
  return ingressOf(member).flatMap(({ ip, hostname }) => (ip || !hostname ? [] : [hostname]));
}

/** `resolved` has the addresses of host names; one that is missing has none. */
export function shardOf(member: MemberService, resolved: ReadonlyMap<string, readonly string[]>): Shard {
  const { zones = [], region } = member.cluster.status ?? {};
  const addresses = ingressOf(member).flatMap(({ ip, hostname }) => (ip ? [ip] : (resolved.get(hostname ?? '') ?? [])));
  return {
    zones: zones.flatMap((zone) => domainPart(zone) ?? []),
    region: region === undefined ? undefined : domainPart(region),
    healthy: isHealthy(member),
    addresses: addresses.flatMap((address) => canonicalAddress(address) ?? []),
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
  return (service?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) =>
    ip || hostname ? [{ ...(ip ? { ip } : {}), ...(hostname ? { hostname } : {}) }] : [],
  );
}

/** A label of a node as part of a domain name; undefined when it cannot be one. */
function domainPart(text: string): string | undefined {
  const name = text.toLowerCase();
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? name : undefined;
}
