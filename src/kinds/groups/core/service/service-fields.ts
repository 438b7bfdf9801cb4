/** The fields of a Service, and its type for the hooks, rules and columns that service.ts is put together from. */
import { s } from '../../../../schema/builders.ts';
import { invalid } from '../../../../schema/field-error.ts';
import { dnsLabel, qualifiedName } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { ObjectType, TypeOf } from '../../../../schema/schema.ts';
import type { KubeObject } from '../../../kind.ts';
import { portNumberOrName, portRange } from '../../../shapes/meta/addresses/port.ts';
import { Condition } from '../../../shapes/meta/condition.ts';
import { labels } from '../../../shapes/meta/label-selector.ts';
import { ipFamilies, ipFamilyPolicies, isExternallyAccessible, portList } from './service-field-rules.ts';

const ServicePort = s.object('ServicePort', 'A port of a service.', {
  name: s.string('Name of the port, a DNS label, unique within the service. Required if there are several ports.', {
    omitZero: true,
    rules: [matches(dnsLabel)],
  }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.', {
    default: 'TCP',
  }),
  appProtocol: s.string('Application protocol of the port, such as kubernetes.io/h2c, as a hint for implementations.', {
    rules: [matches(qualifiedName)],
  }),
  port: s.int32('Port of the service that clients connect to, from 1 to 65535.', { zero: true, ...portRange }),
  targetPort: s.intOrString(
    'Port of the pods that traffic is sent to: a number, or the name of a container port. Defaults to port. ' +
      'Ignored for headless services.',
    { omitZero: true, default: (port: { port: number }): number | string => port.port, rules: [portNumberOrName] },
  ),
  nodePort: s.int32(
    'Port that every node opens for services of type NodePort and LoadBalancer. If absent, the server ' +
      'allocates one from its range.',
    { omitZero: true },
  ),
});
export type ServicePort = TypeOf<typeof ServicePort>;

const AFFINITY_SECONDS = 10800;
const MAX_AFFINITY_SECONDS = 86400;

const SessionAffinityConfig = s.object(
  'SessionAffinityConfig',
  'Settings of session affinity. Only for sessionAffinity ClientIP.',
  {
    clientIP: s.struct('ClientIPConfig', 'Settings of session affinity by client IP.', {
      timeoutSeconds: s.int32(
        'Seconds without traffic after which a client may be sent to another pod, from 1 to 86400. Defaults to ' +
          '10800 (3 hours).',
        {
          default: AFFINITY_SECONDS,
          rules: [
            (seconds: number) =>
              seconds > 0 && seconds <= MAX_AFFINITY_SECONDS
                ? undefined
                : invalid('', seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`),
          ],
        },
      ),
    }),
  },
);

/** Fields of a spec that the defaults of other fields depend on. */
interface Given {
  type?: string;
  externalIPs?: string[];
  sessionAffinity?: string;
  sessionAffinityConfig?: TypeOf<typeof SessionAffinityConfig>;
  internalTrafficPolicy?: 'Cluster' | 'Local';
}

function affinityConfig({ sessionAffinity, sessionAffinityConfig }: Given): Given['sessionAffinityConfig'] {
  if (sessionAffinity === 'None') return undefined;
  if (sessionAffinityConfig || sessionAffinity !== 'ClientIP') return sessionAffinityConfig;
  return { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
}

const ServiceSpec = s.object(
  'ServiceSpec',
  'Desired state of the service: its ports, its pods and how it is reached.',
  {
    type: s.enum(
      ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'],
      'How the service is reached: ClusterIP by an IP address inside the cluster, NodePort also by a port of ' +
        'every node, LoadBalancer also by an external load balancer; ExternalName is only a DNS alias. Defaults ' +
        'to ClusterIP.',
      { default: 'ClusterIP' },
    ),
    ports: s.listMap(
      ServicePort,
      'Ports of the service. At least one is required unless the service is headless or of type ExternalName.',
      { keys: ['port', 'protocol'], rules: [portList] },
    ),
    selector: s.map(
      s.string(),
      'Labels of the pods that receive the traffic. Without a selector, the endpoints are maintained by the ' +
        'owner of the service. Ignored for type ExternalName.',
      { atomic: true, rules: [labels] },
    ),
    clusterIP: s.string(
      'IP address of the service inside the cluster, allocated by the server unless given. None makes the ' +
        'service headless. Cannot be changed, unless the type changes from or to ExternalName.',
      { omitZero: true },
    ),
    clusterIPs: s.list(
      s.string(),
      'IP addresses of the service inside the cluster, at most one per IP family. The first equals clusterIP.',
    ),
    externalIPs: s.list(
      s.string(),
      'Further IP addresses at which nodes accept traffic for the service. The cluster does not manage them.',
    ),
    sessionAffinity: s.enum(
      ['ClientIP', 'None'],
      'ClientIP sends all connections of a client to the same pod; None does not. Defaults to None.',
      { default: 'None' },
    ),
    sessionAffinityConfig: s.use(SessionAffinityConfig, { derive: affinityConfig }),
    loadBalancerIP: s.string(
      'Address requested for the load balancer, if its provider supports that. Deprecated: use annotations of ' +
        'the provider.',
      { omitZero: true },
    ),
    loadBalancerSourceRanges: s.list(
      s.string(),
      'IP ranges of clients that may use the load balancer, if its provider supports that. Defaults to all.',
    ),
    loadBalancerClass: s.string(
      'Load balancer implementation that serves the service, such as example.com/internal. Defaults to that of ' +
        'the cluster. Only for type LoadBalancer; cannot be changed once set.',
    ),
    allocateLoadBalancerNodePorts: s.boolean(
      'Whether node ports are allocated for type LoadBalancer. Defaults to true.',
      { default: (spec: Given) => (spec.type === 'LoadBalancer' ? true : undefined) },
    ),
    externalName: s.string('DNS name that the service is an alias of. Required for type ExternalName.', {
      omitZero: true,
    }),
    externalTrafficPolicy: s.enum(
      ['Cluster', 'Local'],
      'Cluster distributes external traffic to all endpoints; Local keeps it on the node where it arrives, ' +
        "preserving the client's address, and drops it if there is no endpoint. Defaults to Cluster.",
      { default: (spec: Given): 'Cluster' | undefined => (isExternallyAccessible(spec) ? 'Cluster' : undefined) },
    ),
    internalTrafficPolicy: s.enum(
      ['Cluster', 'Local'],
      'Cluster distributes traffic from pods to all endpoints; Local keeps it on the node, and drops it if ' +
        'there is no endpoint. Defaults to Cluster.',
      {
        derive: (spec: Given) => (spec.type === 'ExternalName' ? undefined : (spec.internalTrafficPolicy ?? 'Cluster')),
      },
    ),
    healthCheckNodePort: s.int32(
      'Port of every node at which load balancers check whether the node has endpoints. Only for type ' +
        'LoadBalancer with externalTrafficPolicy Local; allocated unless given. Cannot be changed.',
      { omitZero: true },
    ),
    publishNotReadyAddresses: s.boolean(
      'Whether DNS and endpoints treat pods as ready regardless of their readiness. Meant for peer discovery ' +
        'of headless services. Defaults to false.',
      { omitZero: true },
    ),
    ipFamilies: s.list(
      s.enum(ipFamilies),
      'IP families of the service, IPv4 and IPv6, at most two. Defaults to those of the cluster according to ' +
        'ipFamilyPolicy. The first cannot be changed.',
    ),
    ipFamilyPolicy: s.enum(
      ipFamilyPolicies,
      'SingleStack for one IP family, PreferDualStack for two where the cluster has both, RequireDualStack to ' +
        'fail otherwise. Defaults to SingleStack.',
    ),
    trafficDistribution: s.enum(
      ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
      "Which endpoints are preferred: PreferSameZone (formerly PreferClose) those in the client's zone, " +
        'PreferSameNode those on its node. If absent, all endpoints are equal.',
    ),
  },
);
export type ServiceSpec = TypeOf<typeof ServiceSpec>;

const PortStatus = s.object('PortStatus', 'Status of a port of a load balancer.', {
  port: s.int32('Port number of the service.', { zero: true }),
  protocol: s.string('Protocol of the port: TCP, UDP or SCTP.', { zero: true }),
  error: s.string('Why the port could not be set up, as one CamelCase word or <domain>/<word>.'),
});

const LoadBalancerIngress = s.object('LoadBalancerIngress', 'An address at which the load balancer accepts traffic.', {
  ip: s.string('IP address of the load balancer.', { omitZero: true }),
  hostname: s.string('Host name of the load balancer.', { omitZero: true }),
  ipMode: s.enum(
    ['Proxy', 'VIP'],
    "VIP if packets arrive with the load balancer's address as destination, Proxy if with that of the node " +
      'or pod. Defaults to VIP if ip is set.',
    { default: (at: { ip?: string }) => (at.ip ? 'VIP' : undefined) },
  ),
  ports: s.list(PortStatus, 'Status of each port of the service.'),
});

const ServiceStatus = s.object('ServiceStatus', 'Observed state of the service. Read-only.', {
  loadBalancer: s.struct('LoadBalancerStatus', 'Status of the load balancer of the service.', {
    ingress: s.list(
      LoadBalancerIngress,
      'Addresses at which the load balancer accepts traffic. Empty until it is set up.',
    ),
  }),
  conditions: s.listMap(Condition, 'Conditions of the service.', { keys: ['type'] }),
});

export const serviceFields = {
  spec: s.use(ServiceSpec, { default: {} }),
  status: s.use(ServiceStatus, { default: {} }),
};

export type Service = KubeObject & ObjectType<typeof serviceFields>;
