/**
 * Determines which addresses and ports a Service needs, and how they change on updates. Pure functions: the server
 * allocates.
 *
 * To keep addresses stable, an update calls `keepAllocated`, `syncClusterIps` and `dropUnneeded` (in the kind's hooks),
 * then `defaultServiceAddresses`; then everything that `needsClusterIp`, `portsWithoutNodePort` and
 * `needsHealthCheckNodePort` return is allocated, and everything that `allocatedTo` returned before the update and not
 * after is released.
 */
import { sameItems } from '../../../../base/collections/same-items.ts';
import { type FieldError, invalid } from '../../../../schema/field-error.ts';
import { type IpFamily, ipFamily } from '../../../shapes/meta/addresses/ip-address.ts';
import { clusterIpErrors, hasAddresses, isHeadless, unknownIpFamilies } from './service-cluster-ips.ts';
import { isExternallyAccessible } from './service-field-rules.ts';
import type { Service, ServicePort, ServiceSpec } from './service-fields.ts';

/** Reports whether the service needs a cluster IP for each of its IP families. */
export function needsClusterIp(spec: ServiceSpec): boolean {
  return hasAddresses(spec) && !isHeadless(spec);
}

/** Reports whether the ports of the service can have node ports. */
function mayHaveNodePorts(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Reports whether every port needs a node port. */
export function needsNodePorts(spec: ServiceSpec): boolean {
  return mayHaveNodePorts(spec) && !(spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false);
}

/** The ports for which a node port has to be allocated. */
export function portsWithoutNodePort(spec: ServiceSpec): ServicePort[] {
  return needsNodePorts(spec) ? (spec.ports ?? []).filter((port) => !port.nodePort) : [];
}

/** Load balancers that send traffic only to nodes with pods check that on a separate node port. */
export function needsHealthCheckNodePort(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

/** The cluster IPs and node ports that are allocated to a service. */
export interface Allocated {
  readonly clusterIPs: readonly string[];
  readonly nodePorts: readonly number[];
}

export function allocatedTo(spec: ServiceSpec): Allocated {
  const nodePorts = new Set<number>();
  if (mayHaveNodePorts(spec)) for (const port of spec.ports ?? []) if (port.nodePort) nodePorts.add(port.nodePort);
  if (needsHealthCheckNodePort(spec) && spec.healthCheckNodePort) nodePorts.add(spec.healthCheckNodePort);
  return {
    clusterIPs: needsClusterIp(spec) ? (spec.clusterIPs ?? []).filter(Boolean) : [],
    nodePorts: [...nodePorts],
  };
}

/** Keeps allocated values that an update leaves out, so that the same manifest can be applied again. */
export function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasAddresses(old) && hasAddresses(spec)) {
    spec.clusterIP ||= old.clusterIP;
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
  }
  if (needsNodePorts(old) && needsNodePorts(spec)) keepNodePorts(spec, old);
  if (needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec)) {
    spec.healthCheckNodePort ||= old.healthCheckNodePort;
  }
}

/** Matches ports by name; a node port that another port now requests is not kept. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const asked = new Set(spec.ports?.map((port) => port.nodePort));
  const before = new Map(old.ports?.map((port) => [port.name ?? '', port.nodePort]));
  for (const port of spec.ports ?? []) {
    const kept = before.get(port.name ?? '');
    if (!port.nodePort && kept && !asked.has(kept)) port.nodePort = kept;
  }
}

/** `clusterIP` is the older, single form of `clusterIPs`: a change of only one of them is applied to the other. */
export function syncClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (spec.clusterIP === old.clusterIP) {
    if (!spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
    return;
  }
  if (!sameItems(spec.clusterIPs, old.clusterIPs)) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}

/**
 * Drops fields that only the old type of a service used, unless the client changed them along with the type: then
 * validation rejects them.
 */
export function dropUnneeded(service: Service, old: Service): void {
  const { spec } = service;
  const before = old.spec;
  if (hasAddresses(before) && !hasAddresses(spec)) dropAddresses(spec, before);
  if (mayHaveNodePorts(before) && !mayHaveNodePorts(spec) && !asksForOtherNodePorts(spec, before)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheckNodePort(before) && !needsHealthCheckNodePort(spec)) {
    dropIfSame(spec, before, 'healthCheckNodePort');
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    dropIfSame(spec, before, 'allocateLoadBalancerNodePorts');
    dropIfSame(spec, before, 'loadBalancerClass');
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec)) {
    dropIfSame(spec, before, 'externalTrafficPolicy');
  }
  if (spec.type !== 'LoadBalancer') service.status = { ...service.status, loadBalancer: {} };
}

function dropAddresses(spec: ServiceSpec, before: ServiceSpec): void {
  if (spec.clusterIP === before.clusterIP && sameItems(spec.clusterIPs, before.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameItems(spec.ipFamilies, before.ipFamilies)) delete spec.ipFamilies;
  dropIfSame(spec, before, 'ipFamilyPolicy');
}

function asksForOtherNodePorts(spec: ServiceSpec, before: ServiceSpec): boolean {
  const had = new Set(before.ports?.map((port) => port.nodePort));
  return (spec.ports ?? []).some((port) => port.nodePort && !had.has(port.nodePort));
}

type OptionalScalar =
  | 'healthCheckNodePort'
  | 'allocateLoadBalancerNodePorts'
  | 'loadBalancerClass'
  | 'externalTrafficPolicy'
  | 'ipFamilyPolicy';

function dropIfSame(spec: ServiceSpec, before: ServiceSpec, field: OptionalScalar): void {
  if (spec[field] === before[field]) delete spec[field];
}

/**
 * Sets the defaults of `ipFamilyPolicy` and `ipFamilies` from the cluster's IP families (the primary one first), and
 * returns errors. Cluster IPs must be in sync; the rest of the service need not be valid yet.
 */
export function defaultServiceAddresses(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  cluster: readonly IpFamily[],
): FieldError[] {
  if (!hasAddresses(spec) || (old && prefersTheSame(spec, old))) return [];
  const bare = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (bare ? 'RequireDualStack' : 'SingleStack');
  const malformed = [...unknownIpFamilies(spec), ...clusterIpErrors(spec, old)];
  if (malformed.length > 0) return malformed;
  const errors = [...(old ? reduceToSingle(spec, old) : []), ...fitsPolicy(spec), ...inferFamilies(spec, cluster)];
  if (errors.length > 0) return errors;
  if (!bare) {
    const missing = notConfigured(spec, cluster);
    if (missing.length > 0) return missing;
  }
  const families: IpFamily[] = spec.ipFamilies?.length ? [...spec.ipFamilies] : [cluster[0] ?? 'IPv4'];
  const second = families[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  // Endpoints of a headless service without a selector are unknown: it gets both families, whatever the cluster has.
  if (families.length === 1 && spec.ipFamilyPolicy !== 'SingleStack' && (bare || cluster.includes(second))) {
    families.push(second);
  }
  spec.ipFamilies = families;
  return [];
}

/** A service with PreferDualStack keeps its families when those of the cluster change. */
function prefersTheSame(spec: ServiceSpec, old: ServiceSpec): boolean {
  return (
    spec.type === old.type &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (old.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    sameItems(spec.clusterIPs, old.clusterIPs) &&
    sameItems(spec.ipFamilies, old.ipFamilies)
  );
}

/** A change to SingleStack drops the second family; removing it without that is an error. */
function reduceToSingle(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (spec.clusterIPs && sameItems(spec.clusterIPs, old.clusterIPs)) spec.clusterIPs = spec.clusterIPs.slice(0, 1);
    if (spec.ipFamilies && sameItems(spec.ipFamilies, old.ipFamilies)) spec.ipFamilies = spec.ipFamilies.slice(0, 1);
    return [];
  }
  const errors: FieldError[] = [];
  if (isShorter(spec.clusterIPs, old.clusterIPs)) {
    errors.push(policyError(spec, "must be 'SingleStack' to release the secondary cluster IP"));
  }
  if (isShorter(spec.ipFamilies, old.ipFamilies)) {
    errors.push(policyError(spec, "must be 'SingleStack' to release the secondary IP family"));
  }
  return errors;
}

function fitsPolicy(spec: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  const several = (what: string) =>
    policyError(spec, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`);
  return [
    ...(spec.clusterIPs?.length === 2 ? [several('cluster IPs')] : []),
    ...(spec.ipFamilies?.length === 2 ? [several('IP families')] : []),
  ];
}

function inferFamilies(spec: ServiceSpec, cluster: readonly IpFamily[]): FieldError[] {
  const families = [...(spec.ipFamilies ?? [])];
  const errors: FieldError[] = [];
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    const family = ipFamily(address);
    if (!family || index < families.length) continue;
    if (cluster.includes(family)) families.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, detail));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

function notConfigured(spec: ServiceSpec, cluster: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && cluster.length < 2) {
    errors.push(policyError(spec, 'this cluster is not configured for dual-stack services'));
  }
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (cluster.includes(family)) continue;
    errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  return errors;
}

const policyError = (spec: ServiceSpec, detail: string) => invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail);

function isShorter(list: readonly unknown[] | undefined, than: readonly unknown[] | undefined): boolean {
  return !!list?.length && list.length < (than?.length ?? 0);
}
