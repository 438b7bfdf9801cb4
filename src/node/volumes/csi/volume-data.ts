/** Saves data beside a published volume, so that it can be unpublished without the pod's object. */
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../../base/files/own/modes.ts';
import { readFile, writeFile } from '../../../base/files/own/own-files.ts';

export interface CsiVolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly volumeLifecycleMode: 'Persistent' | 'Ephemeral';
  readonly specVolID: string;
  readonly nodeName: string;
  /** The name of its VolumeAttachment; empty when it need not be attached. Absent in records of old releases. */
  readonly attachmentID?: string;
  /** Path of staging; empty when the driver does not stage volumes. */
  readonly stagingPath: string;
  /** The name of the volume in the pod. Absent in records of old releases. */
  readonly podVolume?: string;
  /** The claim that it belongs to. */
  readonly claim?: string;
}

const FILE = 'vol_data.json';

export async function writeVolumeData(directory: string, data: CsiVolumeData): Promise<void> {
  await writeFile(join(directory, FILE), JSON.stringify(data), { mode: PRIVATE_FILE });
}

/** Reads the data; undefined when there is none. */
export async function readVolumeData(directory: string): Promise<CsiVolumeData | undefined> {
  const text = await readFile(join(directory, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as CsiVolumeData);
}
