/** Removes what a pod has on the node. It works from what is on disk and what is mounted, without the pod's object. */
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CsiDrivers, DriverNotFoundError } from './csi/drivers.ts';
import { NodeUnpublishVolume, NodeUnstageVolume } from './csi/messages.ts';
import { type CsiVolumeData, readVolumeData } from './csi/volume-data.ts';
import type { Layout } from './host/layout.ts';
import { mountPointsBelow } from './host/mount-table.ts';
import type { Mounter } from './host/mounter.ts';
import { VolumeError } from './volumes.ts';

export interface ReleaseContext {
  readonly layout: Layout;
  readonly mounter: Mounter;
  readonly csi: CsiDrivers;
}

/** Idempotent. Rejects with a VolumeError when something cannot be unmounted; nothing below a mount is ever removed. */
export async function releasePod(uid: string, { layout, mounter, csi }: ReleaseContext): Promise<void> {
  const directory = layout.pod(uid);
  const published = await csiVolumes(layout, uid);
  await unmountBelow(join(directory, 'volume-subpaths'), mounter);
  for (const { path, data } of published) await unpublish(join(path, 'mount'), data, { layout, mounter, csi });
  await unmountBelow(directory, mounter);
  await rm(directory, { recursive: true, force: true });
  for (const { data } of published) await unstage(data, { layout, mounter, csi });
}

/** Without its driver, a volume can be given up only when it is not mounted. */
async function unpublish(targetPath: string, data: CsiVolumeData, { mounter, csi }: ReleaseContext): Promise<void> {
  try {
    await csi.call(data.driverName, NodeUnpublishVolume, { volumeId: data.volumeHandle, targetPath });
  } catch (error) {
    const isMounted = mountPointsBelow(await mounter.entries(), targetPath).length > 0;
    if (isMounted || !(error instanceof DriverNotFoundError)) throw error;
  }
}

async function unmountBelow(directory: string, mounter: Mounter): Promise<void> {
  for (const mountPoint of mountPointsBelow(await mounter.entries(), directory)) await mounter.unmount(mountPoint);
  const left = mountPointsBelow(await mounter.entries(), directory);
  if (left.length) throw new VolumeError(`still mounted: ${left.join(', ')}`);
}

async function csiVolumes(layout: Layout, uid: string): Promise<{ path: string; data: CsiVolumeData }[]> {
  const parent = join(layout.volumes(uid), 'kubernetes.io~csi');
  const found: { path: string; data: CsiVolumeData }[] = [];
  for (const name of await namesIn(parent)) {
    const path = join(parent, name);
    const data = await readVolumeData(path);
    if (data) found.push({ path, data });
  }
  return found;
}

/** A volume stays staged while another pod of the node has it. */
async function unstage(data: CsiVolumeData, { layout, mounter, csi }: ReleaseContext): Promise<void> {
  const { driverName, volumeHandle, stagingPath } = data;
  if (!stagingPath) return;
  for (const uid of await namesIn(layout.pods)) {
    const volumes = await csiVolumes(layout, uid);
    if (volumes.some((other) => other.data.stagingPath === stagingPath)) return;
  }
  await csi.call(driverName, NodeUnstageVolume, { volumeId: volumeHandle, stagingPath });
  await unmountBelow(stagingPath, mounter);
  await rm(dirname(stagingPath), { recursive: true, force: true });
}

/** Empty for a directory that does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
