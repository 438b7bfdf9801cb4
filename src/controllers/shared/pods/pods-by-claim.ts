import type { SeenPod } from '../../../api/seen-objects.ts';

const NONE: readonly string[] = [];

const isClaim = ({ persistentVolumeClaim, ephemeral }: NonNullable<SeenPod['spec']['volumes']>[number]) =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined;

/** The name of the claim of an ephemeral volume. */
export const ownClaim = (podName: string | undefined, volumeName: string) => `${podName}-${volumeName}`;

/** An index: pods by their claims, `namespace/name`, including those of ephemeral volumes. */
export const podsByClaim = ({ metadata, spec }: SeenPod): readonly string[] => {
  if (!spec.volumes?.some(isClaim)) return NONE;
  return spec.volumes.filter(isClaim).map(({ name, persistentVolumeClaim }) => {
    return `${metadata.namespace}/${persistentVolumeClaim?.claimName ?? ownClaim(metadata.name, name)}`;
  });
};
