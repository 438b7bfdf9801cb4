/** Computes the rules of one Service on one node. */

import type { DeepReadonly } from '../../api/object-types.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { Service as ServiceObject } from '../../kinds/groups/core/service/service.ts';
import { isInRange } from '../../kinds/shapes/meta/addresses/ip-range.ts';
import { canonicalAddress, familyOf, type IpFamily, ofFamily, rangesOfFamily } from './addresses.ts';
import { chooseEndpoints, type Endpoint, type EndpointSlice, isUsable, SlicePorts } from './endpoints.ts';
import {
  type Choice,
  type Destination,
  type ExternalTraffic,
  type HealthCheck,
  NO_RULES,
  type NodeFacts,
  type PortRules,
  type Protocol,
  type ServiceRules,
} from './rule-set.ts';

type Service = DeepReadonly<ServiceObject>;
type ServicePort = NonNullable<Service['spec']['ports']>[number];

const PROTOCOLS: Readonly<Record<string, Protocol>> = { TCP: 'tcp', UDP: 'udp' };

/** Labels by which Services and EndpointSlices are left to others, as kube-proxy leaves them. */
const FOREIGN_LABELS = ['service.kubernetes.io/service-proxy-name', 'service.kubernetes.io/headless'];

/** Services without an address (headless, ExternalName), and those of another proxy, have no rules. */
export function* serviceRules(
  service: Service,
  all: readonly EndpointSlice[],
  node: NodeFacts,
  pace: Pace,
): DividedWork<ServiceRules> {
  if (isForeign(service)) return NO_RULES;
  const slices = new SlicePorts(all.filter((slice) => !isForeign(slice)));
  return yield* ownRules(service, slices, node, pace);
}

function isForeign({ metadata }: Service | EndpointSlice): boolean {
  const { labels } = metadata;
  return labels !== undefined && FOREIGN_LABELS.some((name) => Object.hasOwn(labels, name));
}

function* ownRules(service: Service, slices: SlicePorts, node: NodeFacts, pace: Pace): DividedWork<ServiceRules> {
  const { spec } = service;
  const clusterIPs = (spec.clusterIPs ?? [spec.clusterIP ?? '']).flatMap((text) => canonicalAddress(text) ?? []);
  if (spec.type === 'ExternalName' || clusterIPs.length === 0) return NO_RULES;
  const all = spec.ports ?? [];
  const ports = all.filter(({ protocol }) => PROTOCOLS[protocol]);
  const rules: PortRules[] = [];
  for (const clusterIP of clusterIPs) {
    for (const port of ports) {
      if (pace.isSpent()) yield;
      rules.push(portRules(service, port, slices, { clusterIP, node }));
    }
  }
  return {
    ports: rules,
    healthCheck: yield* healthCheck(service, ports, slices, { node, pace }),
    reservedAddresses: externalIPs(spec).filter((address) => isReserved(address, node)),
    unsupported: all.filter(({ protocol }) => !PROTOCOLS[protocol]).map(({ port, protocol }) => `${port}/${protocol}`),
  };
}

function portRules(
  service: Service,
  port: ServicePort,
  slices: SlicePorts,
  { clusterIP, node }: { readonly clusterIP: string; readonly node: NodeFacts },
): PortRules {
  const { spec, metadata } = service;
  const family = familyOf(clusterIP);
  const endpoints = slices.endpointsOf({ name: port.name ?? '', protocol: port.protocol, family }, node.name);
  const { cluster, local } = chooseEndpoints(endpoints, node);
  const hasAny = endpoints.some(isUsable);
  const choice = (policy: string | undefined): Choice => ({
    endpoints: (policy === 'Local' ? local : cluster).map(destination),
    // Another node may be tried when there is an endpoint elsewhere in the cluster.
    otherwise: hasAny ? 'drop' : 'reject',
  });
  const addresses = externalAddresses(service, port, family, node);
  const policy = spec.externalTrafficPolicy === 'Local' ? 'Local' : 'Cluster';
  const external: ExternalTraffic = {
    ...addresses,
    nodePort: port.nodePort ?? 0,
    policy,
    outside: choice(policy),
    inside: cluster.map(destination),
  };
  return {
    family,
    clusterIP,
    port: port.port,
    protocol: PROTOCOLS[port.protocol] as Protocol,
    id: `${metadata.namespace}/${metadata.name}:${port.port}/${port.protocol}/${family}`,
    affinitySeconds:
      spec.sessionAffinity === 'ClientIP' ? spec.sessionAffinityConfig?.clientIP?.timeoutSeconds : undefined,
    internal: choice(spec.internalTrafficPolicy),
    external: isReachable(external) ? external : undefined,
    serving: endpoints.filter(({ isServing }) => isServing).map(destination),
  };
}

function isReachable({ addresses, loadBalancerAddresses, nodePort }: ExternalTraffic): boolean {
  return addresses.length > 0 || loadBalancerAddresses.length > 0 || nodePort > 0;
}

/** Load balancers of mode Proxy send packets to node ports or pods. */
function externalAddresses({ spec, status }: Service, port: ServicePort, family: IpFamily, node: NodeFacts) {
  const { addresses: ofNode } = node;
  const ingress = status.loadBalancer?.ingress ?? [];
  const virtual = ingress
    .filter(({ ipMode, ports }) => (ipMode === undefined || ipMode === 'VIP') && !hasFailed(ports, port))
    .flatMap(({ ip }) => ip ?? []);
  const loadBalancerAddresses = ofFamily(spec.type === 'LoadBalancer' ? virtual : [], family);
  const ranges = rangesOfFamily(spec.loadBalancerSourceRanges ?? [], family);
  const isLimited = ranges.length > 0 && !ranges.some((range) => range.endsWith('/0'));
  // A request of this node to an address of the load balancer that it has itself comes from that address.
  const includesNode = ofFamily(ofNode, family).some((address) => ranges.some((range) => isInRange(address, range)));
  return {
    addresses: externalIPs(spec).filter((address) => familyOf(address) === family && !isReserved(address, node)),
    loadBalancerAddresses,
    allowedSources: isLimited ? [...ranges, ...(includesNode ? loadBalancerAddresses : [])] : undefined,
  };
}

/** Canonical, of both families. */
function externalIPs({ externalIPs: texts = [] }: Service['spec']): readonly string[] {
  return texts.length === 0 ? texts : [...ofFamily(texts, 4), ...ofFamily(texts, 6)];
}

/**
 * Reports whether an external address is reserved: otherwise anyone who may create a service would get the traffic to
 * pods and services of others.
 */
function isReserved(address: string, { reservedRanges }: NodeFacts): boolean {
  return reservedRanges.some((range) => isInRange(address, range));
}

/** Reports whether the load balancer does not serve the port at one of its addresses. */
function hasFailed(
  ports: readonly { readonly port?: number; readonly protocol?: string; readonly error?: string }[] | undefined,
  { port, protocol }: ServicePort,
): boolean {
  return ports?.some((each) => each.port === port && each.protocol === protocol && each.error) ?? false;
}

function destination({ address, port, isLocal }: Endpoint): Destination {
  return { address, port, isLocal };
}

/** Counts distinct local endpoints that are ready, over all ports and families. */
function* healthCheck(
  { metadata, spec }: Service,
  ports: readonly ServicePort[],
  slices: SlicePorts,
  { node, pace }: { readonly node: NodeFacts; readonly pace: Pace },
): DividedWork<HealthCheck | undefined> {
  const isNeeded = spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
  if (!isNeeded || !spec.healthCheckNodePort) return undefined;
  const ready = new Set<string>();
  for (const { name = '', protocol } of ports) {
    for (const family of [4, 6] as const) {
      if (pace.isSpent()) yield;
      for (const { isLocal, isReady, address } of slices.endpointsOf({ name, protocol, family }, node.name)) {
        if (isLocal && isReady) ready.add(address);
      }
    }
  }
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    port: spec.healthCheckNodePort,
    localEndpoints: ready.size,
  };
}
