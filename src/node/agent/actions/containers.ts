/** Finds containers in a pod's spec. */
import type { Role, SeenContainer, SeenPod } from '../../pod/container-run.ts';

export interface SpecContainer {
  readonly container: SeenContainer;
  readonly role: Role;
}

/** Undefined for a container that is not in the spec, as those of a pod that is gone from the API. */
export function containerNamed({ spec }: SeenPod, name: string): SpecContainer | undefined {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const init = initContainers.find((each) => each.name === name);
  if (init) return { container: init, role: init.restartPolicy === 'Always' ? 'sidecar' : 'init' };
  const main = containers.find((each) => each.name === name);
  if (main) return { container: main, role: 'main' };
  const ephemeral = ephemeralContainers.find((each) => each.name === name);
  return ephemeral && { container: ephemeral, role: 'ephemeral' };
}
