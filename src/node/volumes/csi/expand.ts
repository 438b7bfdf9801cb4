/** Grows the file system of a volume that was made larger. */
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import { isMore } from '../../../kinds/volumes/growth.ts';
import type { VolumeSetup } from '../kinds/setup.ts';
import type { CsiSource, CsiVolume } from './describe-volume.ts';
import { csi, type VolumeCapability } from './messages.ts';
import { secretValues } from './publish-context.ts';

type Expansion = Pick<Extract<CsiSource, { type: 'persistent' }>, 'volume' | 'claim'> & {
  readonly described: CsiVolume;
  readonly capability: VolumeCapability;
  readonly stagingPath: string;
  readonly targetPath: string;
};

/** Expands the volume if it is larger than the size that the claim reports. */
export async function expandVolume(setup: VolumeSetup, expansion: Expansion): Promise<void> {
  const { volume, claim, described, capability, stagingPath, targetPath } = expansion;
  const size = volume.spec.capacity?.storage;
  const before = claim.status?.capacity?.storage;
  if (described.readOnly || size === undefined || before === undefined || !isMore(size, before)) return;
  await setup.host.csi.call(described.driver, csi.expand, {
    volumeId: described.volumeHandle,
    volumePath: targetPath,
    range: { requiredBytes: Number(scaled(parseQuantity(size), 0)) },
    stagingPath,
    capability,
    secrets: await secretValues(setup, described.expandSecret, 'NodeExpandSecretRef'),
  });
  await setup.host.api.claimExpanded?.(claim, size);
}
