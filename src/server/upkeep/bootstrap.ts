import type { Handle } from '../../api/call.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Endpoints } from '../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { ServiceCIDR } from '../../kinds/groups/networking/service-cidr.ts';
import { PriorityClass, systemPriorities } from '../../kinds/groups/scheduling/priority-class.ts';
import type { Kind } from '../../kinds/kind.ts';
import { ensure } from './own-objects.ts';
import { publishEndpoints, type ServerAddress } from './peers/endpoints.ts';
import { Upkeep, type UpkeepPorts } from './upkeep.ts';

export const SYSTEM_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const PRIORITIES = [
  { name: 'system-cluster-critical', description: 'For pods that the cluster needs, on any node.' },
  { name: 'system-node-critical', description: 'For pods that their node needs.' },
];

export const SYSTEM_PRIORITY_CLASSES: readonly string[] = PRIORITIES.map(({ name }) => name);

interface BootstrapOptions {
  readonly namespaces: readonly string[];
  readonly serviceAddress: string;
  /** Ranges for the cluster IPs of services, at most one of each IP family. */
  readonly serviceRanges: readonly string[];
  readonly advertise: ServerAddress | undefined;
  /** True when several servers maintain the endpoints of the service (peers/). */
  readonly hasPeers: boolean;
  /** True when pods get priorities; then the system's priority classes are created. */
  readonly priorities: boolean;
  now(): Date;
}

/** Creates the initial objects: system namespaces, priority classes, and the service `kubernetes` with its ranges. */
export async function bootstrap(handle: Handle, options: BootstrapOptions): Promise<void> {
  const { namespaces, serviceAddress, serviceRanges, advertise, hasPeers, priorities, now } = options;
  await Promise.all([
    ...namespaces.map((name) => ensure(handle, { plural: 'namespaces', body: { metadata: { name } } })),
    ...(priorities ? PRIORITIES : []).map(({ name, description }) => {
      const body = { metadata: { name }, value: systemPriorities[name], description };
      return ensure(handle, { apiVersion: 'scheduling.k8s.io/v1', plural: 'priorityclasses', body });
    }),
  ]);
  if (!advertise) return;
  const metadata = { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } };
  const spec = {
    clusterIP: serviceAddress,
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: advertise.port }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  };
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: now().toISOString(), reason: '' };
  const ranges = {
    metadata: { name: 'kubernetes' },
    spec: { cidrs: serviceRanges },
    status: { conditions: [{ ...ready, message: 'Kubernetes Service CIDR is ready' }] },
  };
  await Promise.all([
    ensure(handle, { plural: 'services', namespace: 'default', body: { metadata, spec } }),
    ensure(handle, { apiVersion: 'networking.k8s.io/v1', plural: 'servicecidrs', body: ranges }),
  ]);
  if (!hasPeers) await publishEndpoints(handle, [advertise]);
}

/** Names of the objects that `bootstrap` creates, by kind. */
const OWN: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  [Namespace, new Set(SYSTEM_NAMESPACES)],
  [PriorityClass, new Set(SYSTEM_PRIORITY_CLASSES)],
  ...[Service, Endpoints, EndpointSlice, ServiceCIDR].map((kind) => [kind, new Set(['kubernetes'])] as const),
];

/** Runs `again` when one of these objects is deleted. */
export function keepBootstrapped(core: UpkeepPorts, again: () => Promise<void>): Upkeep {
  const failure = 'the initial objects of the cluster could not be created again';
  const upkeep = new Upkeep(core, { failure, reconcile: again });
  for (const [kind, names] of OWN) {
    upkeep.follow([kind], ({ entry, at }) => {
      if (!entry && names.has(at.name)) upkeep.loop.add('initial objects');
    });
  }
  return upkeep;
}
