import { addAll } from '../../../../base/collections/add-all.ts';
import { dnsLabel, nameRule } from '../../../../schema/names.ts';
import { age, NONE, name, type Sparse, UNKNOWN, wide } from '../../../columns/column.ts';
import { loadBalancerText } from '../../../columns/load-balancer.ts';
import { labelsText } from '../../../columns/selector.ts';
import { defineKind } from '../../../kind.ts';
import { cidrWarnings, ipWarnings } from '../../../warnings/addresses.ts';
import { loadBalancerWarnings } from '../../../warnings/load-balancer.ts';
import { dropUnneeded, keepAllocated, syncClusterIps } from './service-addresses.ts';
import { isHeadless } from './service-cluster-ips.ts';
import { type Service as ServiceObject, serviceFields } from './service-fields.ts';
import { serviceRules } from './service-rules.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

export type Service = ServiceObject;

/** A stable name and address for a set of pods. */
export const Service = defineKind({
  kind: 'Service',
  short: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A stable name and IP address for a set of pods; traffic is distributed over them.',
  versions: { v1: {} },
  fields: serviceFields,
  name: nameRule(dnsLabel),
  subresources: { status: true, proxy: true },
  selectable: {
    'spec.clusterIP': (service: Service) => service.spec.clusterIP ?? '',
    'spec.type': (service: Service) => service.spec.type,
  },
  initialStatus: () => ({ loadBalancer: {} }),
  onCreate: (service: Service) => syncClusterIps(service.spec, undefined),
  onUpdate: (service: Service, old: Service) => {
    keepAllocated(service.spec, old.spec);
    syncClusterIps(service.spec, old.spec);
    dropUnneeded(service, old);
  },
  rules: serviceRules,
  createOnUpdate: true,
  onExport: forgetAllocated,
  warnings: serviceWarnings,
  statusWarnings: loadBalancerWarnings,
  columns: ({ text }) => [
    name,
    text('Type', 'Type of the service.', ({ spec }) => spec?.type ?? ''),
    text('Cluster-IP', 'IP address of the service inside the cluster.', ({ spec }) => spec?.clusterIPs?.[0] ?? NONE),
    text('External-IP', 'Addresses of the service outside the cluster.', externalAddress),
    text('Port(s)', 'Ports of the service, with their node ports.', portsText),
    age,
    wide(text('Selector', 'Labels of the pods that receive the traffic.', ({ spec }) => labelsText(spec?.selector))),
  ],
});

/** Removes addresses from an exported service, except None, so that it can be created in another cluster. */
function forgetAllocated({ spec }: Service, exact: boolean): void {
  if (exact) return;
  if (!isHeadless(spec)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  delete spec.healthCheckNodePort;
  for (const port of spec.ports ?? []) delete port.nodePort;
}

function externalAddress({ spec, status }: Sparse<Service>): string {
  const addresses = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return addresses.join(',') || NONE;
    case 'LoadBalancer':
      return [loadBalancerText(status), ...addresses].filter(Boolean).join(',') || '<pending>';
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return UNKNOWN;
  }
}

function portsText({ spec }: Sparse<Service>): string {
  const ports = spec?.ports ?? [];
  const texts = ports.map(
    ({ port, nodePort, protocol }) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol ?? ''}`,
  );
  return texts.join(',') || NONE;
}

function serviceWarnings({ metadata, spec }: Service): string[] {
  const { type, clusterIP = '', clusterIPs = [], externalIPs = [], externalName, loadBalancerIP } = spec;
  const found: string[] = [];
  if (metadata.annotations?.[HINTS] !== undefined) {
    found.push(`annotation ${HINTS} is deprecated, please use ${MODE} instead`);
  }
  if (clusterIP && clusterIP !== 'None') {
    addAll(
      found,
      clusterIPs.flatMap((ip, index) => ipWarnings(`spec.clusterIPs[${index}]`, ip)),
    );
  }
  const headless = type === 'ClusterIP' && clusterIP === 'None';
  if (headless) {
    if (loadBalancerIP) found.push('spec.loadBalancerIP is ignored for headless services');
    if (externalIPs.length > 0) found.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') found.push('spec.SessionAffinity is ignored for headless services');
  }
  if (externalIPs.length > 0) {
    addAll(
      found,
      externalIPs.flatMap((ip, index) => ipWarnings(`spec.externalIPs[${index}]`, ip)),
    );
    if (!headless && type !== 'ExternalName') {
      found.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
    }
  }
  if (loadBalancerIP) addAll(found, ipWarnings('spec.loadBalancerIP', loadBalancerIP));
  spec.loadBalancerSourceRanges?.forEach((range, index) => {
    addAll(found, cidrWarnings(`spec.loadBalancerSourceRanges[${index}]`, range.trim()));
  });
  if (type === 'ExternalName' && externalIPs.length > 0) {
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (type !== 'ExternalName' && externalName) {
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return found;
}
