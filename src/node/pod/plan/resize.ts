/** Changes of the resources of a pod that runs: of its containers, and of the pod as a whole. */
import { deepEqual } from '../../../base/json/tree.ts';
import type { SeenContainer, SeenPod } from '../container-run.ts';
import { specAt } from './facts.ts';
import type { ContainerState, PodState } from './state.ts';

/** Whether a container has other resources than its spec and that of its pod say. */
export function isChanged({ spec }: SeenPod, container: SeenContainer, state: ContainerState): boolean {
  const { actual, actualOfPod } = state;
  if (actual !== undefined && actual !== container.resources && !deepEqual(actual, container.resources)) return true;
  return actualOfPod !== undefined && actualOfPod !== spec.resources && !deepEqual(actualOfPod, spec.resources);
}

/** Whether resources have changed that are not applied yet. */
export function isResized(pod: SeenPod, { containers }: PodState): boolean {
  return containers.some(
    (each) => each.role !== 'ephemeral' && mayChange(each) && isChanged(pod, specAt(pod, each.position), each),
  );
}

/** An init container that has run does not run again. */
const mayChange = ({ role, records: [newest] }: ContainerState) => role !== 'init' || newest?.state === 'running';

/** Why changed resources could not be applied. */
export function resizeError({ containers }: PodState): string | undefined {
  for (const { update } of containers) if (update.type === 'failed') return update.message;
  return undefined;
}
