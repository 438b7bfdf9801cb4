/** Reports which attached volumes pods of the node use, so that the attach controller does not detach them. */
import { join } from 'node:path';
import { deepEqual } from '../../../base/json/tree.ts';
import { uniqueVolumeName } from '../../../kinds/volumes/attachment.ts';
import type { VolumesApi } from '../api.ts';
import type { Layout } from '../host/layout.ts';
import { namesIn } from '../host/names-in.ts';
import { SerialByKey } from '../serial-by-key.ts';
import { type CsiVolumeData, readVolumeData } from './volume-data.ts';

export class VolumesInUse {
  /** Reports are made in turn, so that an older one does not replace a newer. */
  readonly #turns = new SerialByKey();
  #reported: readonly string[] | undefined;

  constructor(
    private readonly layout: Layout,
    private readonly api: Pick<VolumesApi, 'reportVolumesInUse'>,
  ) {}

  /** Resolves when the API knows. A volume is in use as long as it is recorded on disk. */
  report(): Promise<void> {
    return this.#turns.run('', async () => {
      const names = await this.#names();
      if (deepEqual(names, this.#reported)) return;
      this.#reported = undefined;
      await this.api.reportVolumesInUse?.(names);
      this.#reported = names;
    });
  }

  async #names(): Promise<readonly string[]> {
    const names = new Set<string>();
    for (const uid of await namesIn(this.layout.pods)) {
      for (const { data } of await csiVolumes(this.layout, uid)) {
        const { driverName: driver, volumeHandle, attachmentID } = data;
        if (attachmentID) names.add(uniqueVolumeName({ driver, volumeHandle }));
      }
    }
    return [...names].sort();
  }
}

export interface PublishedVolume {
  readonly path: string;
  readonly data: CsiVolumeData;
}

/** The directory of a pod's volumes of CSI drivers. */
export const csiDirectory = (layout: Layout, uid: string): string => join(layout.volumes(uid), 'kubernetes.io~csi');

/** Returns the CSI volumes of a pod, according to the data recorded beside them. */
export async function csiVolumes(layout: Layout, uid: string): Promise<PublishedVolume[]> {
  const found: PublishedVolume[] = [];
  for (const name of await namesIn(csiDirectory(layout, uid))) {
    const path = join(csiDirectory(layout, uid), name);
    const data = await readVolumeData(path);
    if (data) found.push({ path, data });
  }
  return found;
}
