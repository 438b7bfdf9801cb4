import { s } from '../../../../schema/builders.ts';
import { invalid } from '../../../../schema/field-error.ts';
import { dnsLabel, nameRule, qualifiedName } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { Condition } from '../../../shapes/meta/condition.ts';
import { labels } from '../../../shapes/meta/label-selector.ts';
import { portNumberOrName, portRange } from '../../../shapes/meta/port.ts';
import { loadBalancerWarnings } from '../../../warnings/load-balancer.ts';
import { dropUnneeded, isExternallyAccessible, keepAllocated, syncClusterIps } from './service-addresses.ts';
import { ipFamilies, ipFamilyPolicies, isHeadless } from './service-cluster-ips.ts';
import { serviceColumns } from './service-columns.ts';
import { portList, serviceRules } from './service-rules.ts';
import { serviceWarnings } from './service-warnings.ts';

const ServicePort = s.object('ServicePort', {
  name: s.string({
    omitZero: true,
    description: 'Tells the ports of a service apart; needed as soon as there are several. The Endpoints repeat it.',
    rules: [matches(dnsLabel)],
  }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], { default: 'TCP', description: 'What is spoken on the port.' }),
  appProtocol: s.string({
    description: 'What is spoken inside that protocol, as a hint for those who forward it.',
    rules: [matches(qualifiedName)],
  }),
  port: s.int32({ zero: true, ...portRange, description: 'The port of the service itself, which clients use.' }),
  targetPort: s.intOrString({
    omitZero: true,
    default: (port: { port: number }): number | string => port.port,
    description: 'The port of the pods that traffic goes to: a number, or the name of a container port.',
    rules: [portNumberOrName],
  }),
  nodePort: s.int32({
    omitZero: true,
    description: 'With type NodePort or LoadBalancer: the port that every node opens. One is chosen where absent.',
  }),
});
export type ServicePort = TypeOf<typeof ServicePort>;

const AFFINITY_SECONDS = 10800;
const MAX_AFFINITY_SECONDS = 86400;

const SessionAffinityConfig = s.object('SessionAffinityConfig', {
  clientIP: s.object(
    'ClientIPConfig',
    {
      timeoutSeconds: s.int32({
        default: AFFINITY_SECONDS,
        description: 'How long a client stays with its pod after it was last heard of.',
        rules: [
          (seconds: number) =>
            seconds > 0 && seconds <= MAX_AFFINITY_SECONDS
              ? undefined
              : invalid('', seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`),
        ],
      }),
    },
    { default: {} },
  ),
});

/** Parts of a spec that other parts follow from. */
interface Given {
  type?: string;
  sessionAffinity?: string;
  sessionAffinityConfig?: TypeOf<typeof SessionAffinityConfig>;
  internalTrafficPolicy?: 'Cluster' | 'Local';
}

function affinityConfig({ sessionAffinity, sessionAffinityConfig }: Given): Given['sessionAffinityConfig'] {
  if (sessionAffinity === 'None') return undefined;
  if (sessionAffinityConfig || sessionAffinity !== 'ClientIP') return sessionAffinityConfig;
  return { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}

const ServiceSpec = s.object('ServiceSpec', {
  type: s.enum(['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'], {
    default: 'ClusterIP',
    description:
      'How it can be reached: inside the cluster (ClusterIP), through a port of every node (NodePort), through a load ' +
      'balancer outside (LoadBalancer), or not at all, being an alias of another name (ExternalName).',
  }),
  ports: s.listMap(ServicePort, {
    keys: ['port', 'protocol'],
    description: 'The ports it offers.',
    rules: [portList],
  }),
  selector: s.map(s.string(), {
    atomic: true,
    description: 'Traffic goes to the pods with these labels. Without it, somebody else keeps the Endpoints.',
    rules: [labels],
  }),
  clusterIP: s.string({
    omitZero: true,
    description: 'Its virtual address, given by the server and kept for life. None asks for no address at all.',
  }),
  clusterIPs: s.list(s.string(), {
    description: 'Its virtual addresses, one for each IP family; the first is clusterIP.',
  }),
  externalIPs: s.list(s.string(), { description: 'Further addresses that the nodes take its traffic on.' }),
  sessionAffinity: s.enum(['ClientIP', 'None'], {
    default: 'None',
    description: 'ClientIP sends a client to the same pod again and again.',
  }),
  sessionAffinityConfig: s.use(SessionAffinityConfig, { derive: affinityConfig }),
  loadBalancerIP: s.string({ omitZero: true }),
  loadBalancerSourceRanges: s.list(s.string(), { description: 'The clients that the load balancer lets through.' }),
  loadBalancerClass: s.string({ description: 'Which load balancer is to serve it; the default one where absent.' }),
  allocateLoadBalancerNodePorts: s.boolean({
    default: (spec: Given) => (spec.type === 'LoadBalancer' ? true : undefined),
  }),
  externalName: s.string({
    omitZero: true,
    description: 'With type ExternalName: the DNS name that it is an alias of.',
  }),
  externalTrafficPolicy: s.enum(['Cluster', 'Local'], {
    default: (spec: any): 'Cluster' | undefined => (isExternallyAccessible(spec) ? 'Cluster' : undefined),
    description: 'Local keeps traffic from outside on the node it arrives at, and with it the address of the client.',
  }),
  internalTrafficPolicy: s.enum(['Cluster', 'Local'], {
    derive: (spec: Given) => (spec.type === 'ExternalName' ? undefined : (spec.internalTrafficPolicy ?? 'Cluster')),
    description: 'Local keeps traffic from pods on their own node.',
  }),
  healthCheckNodePort: s.int32({ omitZero: true }),
  publishNotReadyAddresses: s.boolean({ omitZero: true, description: 'Pods that are not ready are found, too.' }),
  ipFamilies: s.list(s.enum(ipFamilies)),
  ipFamilyPolicy: s.enum(ipFamilyPolicies),
  trafficDistribution: s.enum(['PreferClose', 'PreferSameZone', 'PreferSameNode']),
});
export type ServiceSpec = TypeOf<typeof ServiceSpec>;

const PortStatus = s.object('PortStatus', {
  port: s.int32({ zero: true }),
  protocol: s.string({ zero: true }),
  error: s.string(),
});

const LoadBalancerIngress = s.object('LoadBalancerIngress', {
  ip: s.string({ omitZero: true }),
  hostname: s.string({ omitZero: true }),
  ipMode: s.enum(['Proxy', 'VIP'], { default: (at: { ip?: string }) => (at.ip ? 'VIP' : undefined) }),
  ports: s.list(PortStatus),
});

const ServiceStatus = s.object('ServiceStatus', {
  loadBalancer: s.object(
    'LoadBalancerStatus',
    { ingress: s.list(LoadBalancerIngress, { description: 'Where the load balancer can be reached.' }) },
    { default: {} },
  ),
  conditions: s.listMap(Condition, { keys: ['type'] }),
});

const fields = { spec: s.use(ServiceSpec, { default: {} }), status: s.use(ServiceStatus, { default: {} }) };

export type Service = KubeObject & ObjectType<typeof fields>;

/** One name and one address for a set of pods. */
export const Service = defineKind({
  group: '',
  kind: 'Service',
  plural: 'services',
  short: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'One name and one address for a set of pods that do the same; traffic is spread over them.',
  versions: { v1: {} },
  fields,
  name: nameRule(dnsLabel),
  subresources: { status: true, others: ['proxy'] },
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
  columns: serviceColumns,
});

/** An exported service can be created in another cluster: it takes no address along, but None means something there. */
function forgetAllocated(service: Service): void {
  const { spec } = service;
  service.status = { loadBalancer: {} };
  if (!isHeadless(spec)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  delete spec.healthCheckNodePort;
  for (const port of spec.ports ?? []) delete port.nodePort;
}
