/** What is known about a running pod. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ContainerStatus } from '../container/container-status.ts';
import { ResourceList, ResourceRequirements } from '../container/resources.ts';

const PodCondition = s.object('PodCondition', {
  type: s.string({ zero: true }),
  observedGeneration: s.int64({ omitZero: true }),
  status: s.string({ zero: true }),
  lastProbeTime: s.time(),
  lastTransitionTime: s.time(),
  reason: s.string({ omitZero: true }),
  message: s.string({ omitZero: true }),
});

const PodIP = s.object('PodIP', { ip: s.string({ zero: true }) });
const HostIP = s.object('HostIP', { ip: s.string({ zero: true }) });

const PodResourceClaimStatus = s.object('PodResourceClaimStatus', {
  name: s.string({ zero: true }),
  resourceClaimName: s.string(),
});

const PodExtendedResourceClaimStatus = s.object('PodExtendedResourceClaimStatus', {
  requestMappings: s.list(
    s.object('ContainerExtendedResourceRequest', {
      containerName: s.string({ zero: true }),
      resourceName: s.string({ zero: true }),
      requestName: s.string({ zero: true }),
    }),
    { zero: true },
  ),
  resourceClaimName: s.string({ zero: true }),
});

const NodeAllocatableResourceClaimStatus = s.object('NodeAllocatableResourceClaimStatus', {
  resourceClaimName: s.string({ zero: true }),
  containers: s.set(s.string()),
  resources: s.use(ResourceList, { zero: true }),
});

export const PodStatus = s.object('PodStatus', {
  observedGeneration: s.int64({ omitZero: true }),
  phase: s.string({
    omitZero: true,
    description: 'Where the pod is in its life: Pending, Running, Succeeded, Failed or Unknown.',
  }),
  conditions: s.listMap(PodCondition, { keys: ['type'], description: 'What holds for the pod, such as being ready.' }),
  message: s.string({ omitZero: true, description: 'Why the pod is in this state, for people.' }),
  reason: s.string({
    omitZero: true,
    description: 'Why the pod is in this state, in one CamelCase word, such as Evicted.',
  }),
  nominatedNodeName: s.string({ omitZero: true }),
  hostIP: s.string({ omitZero: true, description: 'The address of the node that runs the pod.' }),
  hostIPs: s.list(HostIP, { merge: 'ip' }),
  podIP: s.string({ omitZero: true, description: 'The address of the pod; empty until it has one.' }),
  podIPs: s.listMap(PodIP, { keys: ['ip'] }),
  startTime: s.time({ description: 'When the node took note of the pod, before images were fetched.' }),
  initContainerStatuses: s.list(ContainerStatus, { description: 'One entry for every init container.' }),
  containerStatuses: s.list(ContainerStatus, { description: 'One entry for every container.' }),
  qosClass: s.string({
    omitZero: true,
    description: 'Guaranteed, Burstable or BestEffort, by what the containers request.',
  }),
  ephemeralContainerStatuses: s.list(ContainerStatus),
  resize: s.string({ omitZero: true }),
  resourceClaimStatuses: s.listMap(PodResourceClaimStatus, { keys: ['name'], retainKeys: true }),
  extendedResourceClaimStatus: PodExtendedResourceClaimStatus,
  allocatedResources: ResourceList,
  resources: ResourceRequirements,
  nodeAllocatableResourceClaimStatuses: s.list(NodeAllocatableResourceClaimStatus),
});
export type PodStatus = TypeOf<typeof PodStatus>;
