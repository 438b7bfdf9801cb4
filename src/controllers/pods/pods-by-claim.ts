import type { DeepReadonly } from '../../client/object-types.ts';
import type { Pod } from '../../kinds/core/pod.ts';

type SeenPod = DeepReadonly<Pod>;

const NONE: readonly string[] = [];

/** The names of the claims that a pod has, those included that are made for it alone. */
export function claimsOf({ metadata, spec }: SeenPod): readonly string[] {
  let found: string[] | undefined;
  for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? NONE) {
    if (persistentVolumeClaim) (found ??= []).push(persistentVolumeClaim.claimName);
    else if (ephemeral) (found ??= []).push(ownClaim(metadata.name, name));
  }
  return found ?? NONE;
}

/** The claim that is made for a volume of the pod. */
export const ownClaim = (podName: string | undefined, volumeName: string) => `${podName}-${volumeName}`;

/** An index: pods by the claims that they have, `namespace/name`. */
export const podsByClaim = (pod: SeenPod): readonly string[] => {
  const names = claimsOf(pod);
  return names.length === 0 ? NONE : names.map((name) => `${pod.metadata.namespace}/${name}`);
};
