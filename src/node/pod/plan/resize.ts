/** Changes of the resources of a pod that runs: of its containers, and of the pod as a whole. */
import { memoized } from '../../../base/collections/memoized.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { compareQuantities, type Quantity } from '../../../base/quantity.ts';
import { effectiveResources, podCgroupResources } from '../../container/resources.ts';
import type { SeenContainer, SeenPod } from '../container-run.ts';
import { specAt } from './facts.ts';
import type { ContainerState, PodSize, PodState } from './state.ts';

/** The pod with the resources that the node has admitted. Everything is started and resized by it. */
export function admittedPod(pod: SeenPod, { resizeRejection, admitted }: PodState): SeenPod {
  return resizeRejection ? withResourcesOf(pod, admitted) : pod;
}

function withResourcesOf(pod: SeenPod, { resources, containers, initContainers = [] }: SeenPod['spec']): SeenPod {
  const { spec } = pod;
  const sized = <T extends SeenContainer>(list: readonly T[], from: readonly T[]): readonly T[] =>
    list.map((each, at) => ({ ...each, resources: from[at]?.resources ?? each.resources }));
  return {
    ...pod,
    spec: {
      ...spec,
      resources,
      containers: sized(spec.containers, containers),
      ...(spec.initContainers && { initContainers: sized(spec.initContainers, initContainers) }),
    },
  } as SeenPod;
}

/** The pod with the resources that its status reports. */
export function reportedPod(pod: SeenPod): SeenPod {
  const { containerStatuses, initContainerStatuses = [], resources } = pod.status;
  if (!containerStatuses) return pod;
  const byName = new Map([...containerStatuses, ...initContainerStatuses].map((each) => [each.name, each.resources]));
  const reported = <T extends SeenContainer>(list: readonly T[] = []): readonly T[] =>
    list.map((each) => ({ ...each, resources: byName.get(each.name) ?? each.resources }));
  const { spec } = pod;
  const containers = { containers: reported(spec.containers), initContainers: reported(spec.initContainers) };
  return withResourcesOf(pod, { ...spec, ...containers, resources } as SeenPod['spec']);
}

/** The limit of processes is the node's and does not change with a pod. Cached: a pod is looked at many times. */
export const sizeOf = memoized(
  (pod: SeenPod): PodSize => ({ resources: pod.spec.resources, cgroup: podCgroupResources(pod, undefined) }),
  ({ spec }) => spec,
);

/** Reports whether the size of the pod's sandbox differs from the spec. */
export function isMissized(pod: SeenPod, { sandboxes, size }: PodState): boolean {
  if (sandboxes.length === 0) return false;
  const wanted = sizeOf(pod);
  return size !== wanted && !deepEqual(size, wanted);
}

/** Reports whether the resources of a container differ from its spec and that of its pod. */
export function isChanged(pod: SeenPod, container: SeenContainer, { applied }: ContainerState): boolean {
  if (!applied) return false;
  const { resources: own } = container;
  if (applied.own !== own && !deepEqual(applied.own ?? NONE, own ?? NONE)) return true;
  const { resources: ofPod } = pod.spec;
  if (applied.ofPod === ofPod || deepEqual(applied.ofPod, ofPod)) return false;
  return RESIZABLE.some((name) => hasOther(name, pod, container, applied));
}

const NONE = Object.freeze({});
const RESIZABLE = ['cpu', 'memory'] as const;

/** Reports whether the request or limit of a container differs from the applied one, also because that of its pod does. */
export function hasOther(
  name: (typeof RESIZABLE)[number],
  pod: SeenPod,
  container: SeenContainer,
  { own, ofPod }: NonNullable<ContainerState['applied']>,
): boolean {
  const wanted = effectiveResources(container.resources, pod.spec.resources);
  const actual = effectiveResources(own, ofPod);
  const differs = (part: 'requests' | 'limits') => !isSame(wanted[part][name], actual[part][name]);
  return differs('requests') || differs('limits');
}

function isSame(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a === undefined || b === undefined ? a === b : compareQuantities(a, b) === 0;
}

/** Reports whether changed resources are not applied yet. */
export function isResized(pod: SeenPod, state: PodState): boolean {
  return isMissized(pod, state) || hasChanged(pod, state);
}

/** Reports whether a container is to be resized. */
export function hasChanged(pod: SeenPod, { containers }: PodState): boolean {
  return containers.some(
    (each) => each.role !== 'ephemeral' && mayChange(each) && isChanged(pod, specAt(pod, each.position), each),
  );
}

/** An init container that has run does not run again. */
const mayChange = ({ role, records: [newest] }: ContainerState) => role !== 'init' || newest?.state === 'running';

/** Why changed resources could not be applied. A pod may have to wait once for containers that are larger than it will be. */
export function resizeError({ containers, resizing }: PodState): string | undefined {
  for (const { update } of containers) if (update.type === 'failed') return update.message;
  return resizing.type === 'failed' && resizing.failures > 1 ? resizing.message : undefined;
}
