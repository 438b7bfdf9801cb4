/** The phases of a pod, and how to find a container in its spec. */
import { memoized } from '../../base/collections/memoized.ts';
import type { ContainerRun, SeenContainer, SeenPod } from './container-run.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

const NO_CONTAINER: SeenContainer = { name: '' } as SeenContainer;

/** Returns the container's entry in the pod's spec. There is always one: containers cannot be removed from a pod. */
export function containerOf({ spec }: SeenPod, { name, role }: ContainerRun): SeenContainer {
  const list: readonly SeenContainer[] | undefined =
    role === 'main' ? spec.containers : role === 'ephemeral' ? spec.ephemeralContainers : spec.initContainers;
  if (!list) return NO_CONTAINER;
  return (list.length > MAX_SCANNED ? byName(list).get(name) : list.find((each) => each.name === name)) ?? NO_CONTAINER;
}

/** Longer lists get an index. */
const MAX_SCANNED = 8;

/** Lists are immutable. Everything that happens to a container looks it up, and a pod may have thousands. */
const byName = memoized(
  (containers: readonly SeenContainer[]): ReadonlyMap<string, SeenContainer> =>
    new Map(containers.map((container) => [container.name, container])),
);
