import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';

type SeenPod = DeepReadonly<Pod>;

const NONE: readonly string[] = [];

const isClaim = ({ persistentVolumeClaim, ephemeral }: NonNullable<SeenPod['spec']['volumes']>[number]) =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined;

/** The claim that is made for a volume of the pod. */
export const ownClaim = (podName: string | undefined, volumeName: string) => `${podName}-${volumeName}`;

/** An index: pods by the claims that they have, `namespace/name`, those included that are made for them alone. */
export const podsByClaim = ({ metadata, spec }: SeenPod): readonly string[] => {
  if (!spec.volumes?.some(isClaim)) return NONE;
  return spec.volumes.filter(isClaim).map(({ name, persistentVolumeClaim }) => {
    return `${metadata.namespace}/${persistentVolumeClaim?.claimName ?? ownClaim(metadata.name, name)}`;
  });
};
