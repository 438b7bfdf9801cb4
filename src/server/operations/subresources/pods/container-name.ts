import { badRequest } from '../../../../api/errors.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';

/**
 * Returns the container that a request names, or the only one of the pod. Throws a BadRequest when there is none, or
 * several to choose from.
 */
export function containerNamed({ metadata, spec }: Pod, requested: string | undefined): string {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  if (requested) {
    if (names.includes(requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${metadata.name}`);
  }
  const [only] = containers;
  if (only && containers.length === 1) return only.name;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
}
