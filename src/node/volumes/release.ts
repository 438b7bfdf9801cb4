/** Removes a pod's data from the node, according to the disk and the mounts, without the pod's object. */
import { dirname, join } from 'node:path';
import { removeTree } from '../../base/files/inside/remove-tree.ts';
import { stat } from '../../base/files/own/own-files.ts';
import { DriverNotFoundError } from './csi/drivers.ts';
import { csiDirectory, csiVolumes, type PublishedVolume } from './csi/in-use.ts';
import { csi as methods } from './csi/messages.ts';
import type { Layout } from './host/layout.ts';
import { mountPointsBelow } from './host/mount-table.ts';
import type { Mounter } from './host/mounter.ts';
import { namesIn } from './host/names-in.ts';
import type { VolumeHost } from './kinds/setup.ts';
import { VolumeError } from './volumes.ts';

type ReleaseContext = Pick<VolumeHost, 'layout' | 'mounter' | 'csi' | 'inUse' | 'staging'>;

/** Idempotent. Rejects with a VolumeError when something cannot be unmounted; nothing below a mount is ever removed. */
export async function releasePod(uid: string, context: ReleaseContext): Promise<void> {
  const { layout, mounter, csi, inUse } = context;
  const directory = layout.pod(uid);
  const published = await csiVolumes(layout, uid);
  await unmountBelow(join(directory, 'volume-subpaths'), mounter);
  for (const { path, data } of published) {
    const targetPath = join(path, 'mount');
    const request = { volumeId: data.volumeHandle, targetPath };
    await giveUp(targetPath, mounter, () => csi.call(data.driverName, methods.unpublish, request));
  }
  await unmountBelow(directory, mounter);
  for (const volume of published) await forget(volume, context);
  // The directory stays until this was reported, so that another attempt reports it, too.
  if (await isThere(csiDirectory(layout, uid))) await inUse.report();
  await removeTree(layout.memoryVolumes(uid));
  await removeTree(directory);
}

/** Gives a volume up. Without its driver, that is possible only when it is not mounted. */
async function giveUp(path: string, mounter: Mounter, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    const isMounted = mountPointsBelow(await mounter.entries(), path).length > 0;
    if (isMounted || !(error instanceof DriverNotFoundError)) throw error;
  }
}

async function unmountBelow(directory: string, mounter: Mounter): Promise<void> {
  for (const mountPoint of mountPointsBelow(await mounter.entries(), directory)) await mounter.unmount(mountPoint);
  const left = mountPointsBelow(await mounter.entries(), directory);
  if (left.length) throw new VolumeError(`still mounted: ${left.join(', ')}`);
}

/** Removes the record of a volume. It stays staged while another pod of the node has it. */
async function forget({ path, data }: PublishedVolume, context: ReleaseContext): Promise<void> {
  const { layout, mounter, csi, staging } = context;
  const { driverName, volumeHandle, stagingPath } = data;
  await staging.run(stagingPath || path, async () => {
    if (stagingPath && !(await isStagedForOthers(layout, { path, data }))) {
      const request = { volumeId: volumeHandle, stagingPath };
      await giveUp(stagingPath, mounter, () => csi.call(driverName, methods.unstage, request));
      await unmountBelow(stagingPath, mounter);
      await removeTree(dirname(stagingPath));
    }
    await removeTree(path);
  });
}

async function isStagedForOthers(layout: Layout, { path, data }: PublishedVolume): Promise<boolean> {
  for (const uid of await namesIn(layout.pods)) {
    const volumes = await csiVolumes(layout, uid);
    if (volumes.some((other) => other.path !== path && other.data.stagingPath === data.stagingPath)) return true;
  }
  return false;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
