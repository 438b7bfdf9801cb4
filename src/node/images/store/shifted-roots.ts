/**
 * Files of images with the owners that they have in the user namespace of a pod: a layer above the unpacked files in
 * which every file has another owner and, if the kernel can leave it below, no content of its own. Pods with the same
 * range share it.
 */

import { join } from 'node:path';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { PRIVATE_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory, rename } from '../../../base/files/own/own-files.ts';
import { copyTree } from '../unpack/copy-tree.ts';
import { canMountOverlay, mountOverlay, unmount } from '../unpack/overlay.ts';
import { shiftOwners } from '../unpack/shift-owners.ts';
import { writeWhole } from './files.ts';

const SHIFTED = 'shifted';
const DONE = 'done';
const LAYER = 'layer';

export class ShiftedRoots {
  readonly #shifting = new Map<string, Promise<string>>();

  /**
   * Returns the directory of the layer. `files` are those of the image, in a directory `root` that goes with the image; `base` is the id
   * on the node of root in the namespace, and `boot` that of the machine. Concurrent calls share the work.
   */
  layer(root: string, files: string, base: number, boot: string): Promise<string> {
    const directory = join(root, SHIFTED, String(base));
    return getOrInsert(this.#shifting, directory, () =>
      this.#make(directory, files, base, boot).finally(() => this.#shifting.delete(directory)),
    );
  }

  async #make(directory: string, files: string, base: number, boot: string): Promise<string> {
    const layer = join(directory, LAYER);
    // As with unpacked files: files that an earlier boot wrote may be incomplete.
    if ((await readIfThere(join(directory, DONE))) === boot) return layer;
    await removeTree(directory);
    const draft = join(directory, 'draft');
    await rename(await shiftedCopy(files, draft, base), layer);
    await removeTree(draft);
    await writeWhole(join(directory, DONE), boot, join(directory, `${DONE}.next`));
    return layer;
  }
}

/** Returns a directory below `draft`: with owners only, or with everything where the file system cannot hold a layer. */
async function shiftedCopy(files: string, draft: string, base: number): Promise<string> {
  const overlay = { lower: files, upper: join(draft, 'upper'), work: join(draft, 'work'), target: join(draft, 'root') };
  for (const path of [overlay.upper, overlay.work, overlay.target]) await makeDirectory(path, PRIVATE_DIRECTORY);
  const isMounted =
    canMountOverlay(overlay) &&
    (await mountOverlay(overlay, ['metacopy=on']).then(
      () => true,
      () => false,
    ));
  if (!isMounted) {
    const copy = join(draft, 'copy');
    await copyTree(files, copy, { setsOwners: true });
    await shiftOwners(copy, base);
    return copy;
  }
  try {
    await shiftOwners(overlay.target, base);
  } finally {
    await unmount(overlay.target);
  }
  return overlay.upper;
}
