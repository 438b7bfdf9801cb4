/** Observed status of a pod. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ContainerStatus } from '../container/container-status.ts';
import { ResourceList, ResourceRequirements } from '../container/resources.ts';

const PodCondition = s.object(
  'PodCondition',
  {
    type: s.string({
      zero: true,
      description: 'Type of the condition, such as PodScheduled, Initialized, ContainersReady or Ready.',
    }),
    observedGeneration: s.int64({
      omitZero: true,
      description: 'metadata.generation of the pod that the condition was computed from.',
    }),
    status: s.string({ zero: true, description: 'Whether the condition holds: True, False or Unknown.' }),
    lastProbeTime: s.time({ description: 'Time at which the condition was last checked.' }),
    lastTransitionTime: s.time({ description: 'Time at which the status last changed.' }),
    reason: s.string({
      omitZero: true,
      description: 'Machine-readable cause of the last transition, as one CamelCase word.',
    }),
    message: s.string({ omitZero: true, description: 'Explanation of the last transition for people.' }),
  },
  { description: 'One aspect of the observed state of a pod.' },
);

const PodIP = s.object(
  'PodIP',
  { ip: s.string({ zero: true, description: 'IP address that was assigned to the pod.' }) },
  { description: 'An IP address of a pod.' },
);
const HostIP = s.object(
  'HostIP',
  { ip: s.string({ zero: true, description: 'IP address of the node that the pod runs on.' }) },
  { description: 'An IP address of a node.' },
);

const PodResourceClaimStatus = s.object(
  'PodResourceClaimStatus',
  {
    name: s.string({ zero: true, description: 'Name of the entry in spec.resourceClaims.' }),
    resourceClaimName: s.string({
      description: 'ResourceClaim that was created for the entry. Absent if none was needed.',
    }),
  },
  { description: 'The ResourceClaim that stands behind an entry of spec.resourceClaims.' },
);

const PodExtendedResourceClaimStatus = s.object(
  'PodExtendedResourceClaimStatus',
  {
    requestMappings: s.list(
      s.object(
        'ContainerExtendedResourceRequest',
        {
          containerName: s.string({ zero: true, description: 'Name of the container that requests the resource.' }),
          resourceName: s.string({ zero: true, description: 'Extended resource that the container requests.' }),
          requestName: s.string({
            zero: true,
            description: 'Name of the request in the claim that provides the resource.',
          }),
        },
        { description: 'Maps an extended resource of a container to a request of the claim behind it.' },
      ),
      { zero: true, description: 'Which request of the claim provides which extended resource of which container.' },
    ),
    resourceClaimName: s.string({ zero: true, description: 'Name of the ResourceClaim, in the namespace of the pod.' }),
  },
  { description: 'ResourceClaim that the scheduler created for the extended resources of the pod.' },
);

const NodeAllocatableResourceClaimStatus = s.object(
  'NodeAllocatableResourceClaimStatus',
  {
    resourceClaimName: s.string({ zero: true, description: 'Name of the ResourceClaim that takes up the resources.' }),
    containers: s.set(s.string(), { description: 'Containers of the pod that use the claim.' }),
    resources: s.use(ResourceList, {
      zero: true,
      description: 'Amount of each node resource that the claim takes up.',
    }),
  },
  { description: 'Node resources such as cpu or memory that a claim of the pod takes up.' },
);

interface PodAddresses {
  podIP?: string;
  podIPs?: { ip: string }[];
}

export const PodStatus = s.object(
  'PodStatus',
  {
    observedGeneration: s.int64({
      omitZero: true,
      description: 'metadata.generation of the pod that the status was computed from.',
    }),
    phase: s.string({
      omitZero: true,
      description: 'Summary of the state of the pod: Pending, Running, Succeeded, Failed or Unknown.',
    }),
    conditions: s.listMap(PodCondition, {
      keys: ['type'],
      description: 'Conditions of the pod, such as PodScheduled, Initialized, ContainersReady and Ready.',
    }),
    message: s.string({ omitZero: true, description: 'Why the pod is in this state, for people.' }),
    reason: s.string({
      omitZero: true,
      description: 'Why the pod is in this state, in one CamelCase word, such as Evicted.',
    }),
    nominatedNodeName: s.string({
      omitZero: true,
      description:
        'Node on which lower-priority pods are being preempted for this one. The pod may still be scheduled to ' +
        'another node.',
    }),
    hostIP: s.string({
      omitZero: true,
      description:
        'Primary IP address of the node that runs the pod. Empty until it is scheduled and the node has accepted ' +
        'it.',
    }),
    hostIPs: s.list(HostIP, {
      merge: 'ip',
      description:
        'All IP addresses of the node that runs the pod, at most one per IP family. The first equals hostIP.',
    }),
    podIPs: s.listMap(PodIP, {
      keys: ['ip'],
      // Older clients know podIP only: it counts when the two differ.
      derive: ({ podIP, podIPs }: PodAddresses) => (podIP && podIP !== podIPs?.[0]?.ip ? [{ ip: podIP }] : podIPs),
      description: 'All IP addresses of the pod, at most one per IP family. The first equals podIP.',
    }),
    podIP: s.string({
      omitZero: true,
      derive: ({ podIPs }: PodAddresses) => podIPs?.[0]?.ip,
      description: 'Primary IP address of the pod. Empty until one is assigned.',
    }),
    startTime: s.time({ description: 'Time at which the node accepted the pod, before it pulled any image.' }),
    initContainerStatuses: s.list(ContainerStatus, {
      description: 'Status of each init container, in the order of the spec.',
    }),
    containerStatuses: s.list(ContainerStatus, { description: 'Status of each container of the pod.' }),
    qosClass: s.string({
      omitZero: true,
      description:
        'Quality of service class, derived from the resources of the containers: Guaranteed, Burstable or ' +
        'BestEffort. It determines which pods are evicted first when a node runs short of resources.',
    }),
    ephemeralContainerStatuses: s.list(ContainerStatus, { description: 'Status of each ephemeral container.' }),
    resize: s.string({
      omitZero: true,
      description:
        'State of a requested resize: Proposed, InProgress, Deferred or Infeasible. Deprecated: see the ' +
        'conditions PodResizePending and PodResizeInProgress.',
    }),
    resourceClaimStatuses: s.listMap(PodResourceClaimStatus, {
      keys: ['name'],
      retainKeys: true,
      description: 'ResourceClaims that belong to the entries of spec.resourceClaims.',
    }),
    extendedResourceClaimStatus: PodExtendedResourceClaimStatus,
    allocatedResources: s.use(ResourceList, {
      description:
        'Total requests that the node has admitted for the pod: those of the pod as a whole, or of its containers together.',
    }),
    resources: s.use(ResourceRequirements, {
      description: 'Requests and limits in effect for the pod as a whole, if it sets them.',
    }),
    nodeAllocatableResourceClaimStatuses: s.list(NodeAllocatableResourceClaimStatus, {
      description: 'Node resources that are taken up by the ResourceClaims of the pod.',
    }),
  },
  { description: 'Most recently observed status of a pod. Read-only; it may lag behind.' },
);
export type PodStatus = TypeOf<typeof PodStatus>;
