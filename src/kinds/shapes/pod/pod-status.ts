/** Observed status of a pod. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ContainerStatus } from '../container/container-status.ts';
import { ResourceList, ResourceRequirements } from '../container/resources.ts';

const PodCondition = s.object('PodCondition', 'One aspect of the observed state of a pod.', {
  type: s.string('Type of the condition, such as PodScheduled, Initialized, ContainersReady or Ready.', { zero: true }),
  observedGeneration: s.int64('metadata.generation of the pod that the condition was computed from.', {
    omitZero: true,
  }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
  lastProbeTime: s.time('Time at which the condition was last checked.'),
  lastTransitionTime: s.time('Time at which the status last changed.'),
  reason: s.string('Machine-readable cause of the last transition, as one CamelCase word.', { omitZero: true }),
  message: s.string('Explanation of the last transition for people.', { omitZero: true }),
});

const PodIP = s.object('PodIP', 'An IP address of a pod.', {
  ip: s.string('IP address that was assigned to the pod.', { zero: true }),
});
const HostIP = s.object('HostIP', 'An IP address of a node.', {
  ip: s.string('IP address of the node that the pod runs on.', { zero: true }),
});

const PodResourceClaimStatus = s.object(
  'PodResourceClaimStatus',
  'The ResourceClaim that stands behind an entry of spec.resourceClaims.',
  {
    name: s.string('Name of the entry in spec.resourceClaims.', { zero: true }),
    resourceClaimName: s.string('ResourceClaim that was created for the entry. Absent if none was needed.'),
  },
);

const PodExtendedResourceClaimStatus = s.object(
  'PodExtendedResourceClaimStatus',
  'ResourceClaim that the scheduler created for the extended resources of the pod.',
  {
    requestMappings: s.list(
      s.object(
        'ContainerExtendedResourceRequest',
        'Maps an extended resource of a container to a request of the claim behind it.',
        {
          containerName: s.string('Name of the container that requests the resource.', { zero: true }),
          resourceName: s.string('Extended resource that the container requests.', { zero: true }),
          requestName: s.string('Name of the request in the claim that provides the resource.', { zero: true }),
        },
      ),
      'Which request of the claim provides which extended resource of which container.',
      { zero: true },
    ),
    resourceClaimName: s.string('Name of the ResourceClaim, in the namespace of the pod.', { zero: true }),
  },
);

const NodeAllocatableResourceClaimStatus = s.object(
  'NodeAllocatableResourceClaimStatus',
  'Node resources such as cpu or memory that a claim of the pod takes up.',
  {
    resourceClaimName: s.string('Name of the ResourceClaim that takes up the resources.', { zero: true }),
    containers: s.set(s.string(), 'Containers of the pod that use the claim.'),
    resources: s.use(ResourceList, 'Amount of each node resource that the claim takes up.', { zero: true }),
  },
);

interface PodAddresses {
  podIP?: string;
  podIPs?: { ip: string }[];
}

export const PodStatus = s.object(
  'PodStatus',
  'Most recently observed status of a pod. Read-only; it may lag behind.',
  {
    observedGeneration: s.int64('metadata.generation of the pod that the status was computed from.', {
      omitZero: true,
    }),
    phase: s.string('Summary of the state of the pod: Pending, Running, Succeeded, Failed or Unknown.', {
      omitZero: true,
    }),
    conditions: s.listMap(
      PodCondition,
      'Conditions of the pod, such as PodScheduled, Initialized, ContainersReady and Ready.',
      { keys: ['type'] },
    ),
    message: s.string('Why the pod is in this state, for people.', { omitZero: true }),
    reason: s.string('Why the pod is in this state, in one CamelCase word, such as Evicted.', { omitZero: true }),
    nominatedNodeName: s.string(
      'Node on which lower-priority pods are being preempted for this one. The pod may still be scheduled to ' +
        'another node.',
      { omitZero: true },
    ),
    hostIP: s.string(
      'Primary IP address of the node that runs the pod. Empty until it is scheduled and the node has accepted ' +
        'it.',
      { omitZero: true },
    ),
    hostIPs: s.list(
      HostIP,
      'All IP addresses of the node that runs the pod, at most one per IP family. The first equals hostIP.',
      { merge: 'ip' },
    ),
    podIPs: s.listMap(PodIP, 'All IP addresses of the pod, at most one per IP family. The first equals podIP.', {
      keys: ['ip'],
      // Older clients know podIP only: it counts when the two differ.
      derive: ({ podIP, podIPs }: PodAddresses) => (podIP && podIP !== podIPs?.[0]?.ip ? [{ ip: podIP }] : podIPs),
    }),
    podIP: s.string('Primary IP address of the pod. Empty until one is assigned.', {
      omitZero: true,
      derive: ({ podIPs }: PodAddresses) => podIPs?.[0]?.ip,
    }),
    startTime: s.time('Time at which the node accepted the pod, before it pulled any image.'),
    initContainerStatuses: s.list(ContainerStatus, 'Status of each init container, in the order of the spec.'),
    containerStatuses: s.list(ContainerStatus, 'Status of each container of the pod.'),
    qosClass: s.string(
      'Quality of service class, derived from the resources of the containers: Guaranteed, Burstable or ' +
        'BestEffort. It determines which pods are evicted first when a node runs short of resources.',
      { omitZero: true },
    ),
    ephemeralContainerStatuses: s.list(ContainerStatus, 'Status of each ephemeral container.'),
    resize: s.string(
      'State of a requested resize: Proposed, InProgress, Deferred or Infeasible. Deprecated: see the ' +
        'conditions PodResizePending and PodResizeInProgress.',
      { omitZero: true },
    ),
    resourceClaimStatuses: s.listMap(
      PodResourceClaimStatus,
      'ResourceClaims that belong to the entries of spec.resourceClaims.',
      { keys: ['name'], retainKeys: true },
    ),
    extendedResourceClaimStatus: PodExtendedResourceClaimStatus,
    allocatedResources: s.use(
      ResourceList,
      'Total requests that the node has admitted for the pod: those of the pod as a whole, or of its containers together.',
    ),
    resources: s.use(ResourceRequirements, 'Requests and limits in effect for the pod as a whole, if it sets them.'),
    nodeAllocatableResourceClaimStatuses: s.list(
      NodeAllocatableResourceClaimStatus,
      'Node resources that are taken up by the ResourceClaims of the pod.',
    ),
  },
);
export type PodStatus = TypeOf<typeof PodStatus>;
