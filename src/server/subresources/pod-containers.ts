import { badRequest } from '../../base/errors.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';

/** The container with the given name, or the only one of the pod. */
export function containerNamed({ metadata, spec }: Pod, asked: string | undefined): string {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  if (asked) {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  }
  const [only] = containers;
  if (only && containers.length === 1) return only.name;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
}
