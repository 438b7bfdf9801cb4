/** The roots of containers: an overlay mount over the files of the image or, where that cannot be, a copy of them. */

import { join } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { PRIVATE_DIRECTORY, TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory, readlink, rename, rm, stat, symlink } from '../../../base/files/own/own-files.ts';
import type { Logger } from '../../../base/log.ts';
import type { ContainerRoot } from '../image-store.ts';
import type { UnpackOptions } from '../unpack/apply-layer.ts';
import { copyTree } from '../unpack/copy-tree.ts';
import { canMountOverlay, isMounted, mountOverlay, type Overlay, unmount } from '../unpack/overlay.ts';
import { listIfThere, writeWhole } from './files.ts';
import type { StoreLayout } from './layout.ts';

interface RootRecord {
  readonly imageId: string;
  readonly type: 'overlay' | 'copy';
}

const RECORD = 'root.json';
const ROOT = 'root';
const ROOT_MODE = 0o755;
const UPPER = 'upper';
const WORK = 'work';

export class ContainerRoots {
  constructor(
    private readonly layout: StoreLayout,
    private readonly options: UnpackOptions,
    private readonly log: Logger,
  ) {}

  /** Notes that a container uses the image, so that it is not removed. To be called under the lock of the store. */
  async use(imageId: string, directory: string): Promise<void> {
    await makeDirectory(this.layout.usesOf(imageId), PRIVATE_DIRECTORY);
    await makeDirectory(directory, TRAVERSED_DIRECTORY);
    const link = this.layout.use(imageId, directory);
    if ((await readlink(link).catch(ifMissing)) === undefined) await symlink(directory, link);
  }

  /** Directories of containers that use the image. Forgets those that are gone. To be called under the lock. */
  async usersOf(imageId: string): Promise<readonly string[]> {
    const found = await listIfThere(this.layout.usesOf(imageId));
    const users = await Promise.all(
      found.map(async (name) => {
        const link = join(this.layout.usesOf(imageId), name);
        const directory = await readlink(link);
        if (await stat(directory).catch(ifMissing)) return directory;
        await rm(link, { force: true });
        return undefined;
      }),
    );
    return users.filter((directory) => directory !== undefined);
  }

  /** `files` are those of the image. */
  async create(imageId: string, files: string, directory: string): Promise<ContainerRoot> {
    const record = await this.#read(directory);
    const type = record?.type ?? (await this.#make(imageId, files, directory));
    const path = join(directory, ROOT);
    if (type === 'copy') return { path, writable: path };
    if (record && !(await isMounted(path))) await mountOverlay(overlayIn(directory, files));
    return { path, writable: join(directory, UPPER) };
  }

  async remove(directory: string): Promise<void> {
    const record = await this.#read(directory);
    const root = join(directory, ROOT);
    if (await isMounted(root)) await unmount(root);
    for (const name of [ROOT, UPPER, WORK]) await removeTree(join(directory, name));
    if (record) await rm(this.layout.use(record.imageId, directory), { force: true });
    await rm(join(directory, RECORD), { force: true });
  }

  async #make(imageId: string, files: string, directory: string): Promise<RootRecord['type']> {
    const type = (await this.#tryOverlay(files, directory)) ? 'overlay' : 'copy';
    if (type === 'copy') await this.#copy(files, directory);
    const record: RootRecord = { imageId, type };
    await writeWhole(join(directory, RECORD), JSON.stringify(record), join(directory, `${RECORD}.next`));
    return type;
  }

  async #tryOverlay(files: string, directory: string): Promise<boolean> {
    const overlay = overlayIn(directory, files);
    if (!this.options.setsOwners || !canMountOverlay(overlay)) return false;
    if (await isMounted(overlay.target)) await unmount(overlay.target);
    for (const path of [overlay.upper, overlay.work, overlay.target]) await makeDirectory(path, ROOT_MODE);
    try {
      await mountOverlay(overlay);
      return true;
    } catch (error) {
      this.log.warn('no overlay mounts here: containers get copies of their images', { error });
      for (const path of [overlay.upper, overlay.work, overlay.target]) await removeTree(path);
      return false;
    }
  }

  /** Renamed when it is whole. */
  async #copy(files: string, directory: string): Promise<void> {
    const draft = join(directory, `${ROOT}.next`);
    await removeTree(draft);
    await removeTree(join(directory, ROOT));
    await copyTree(files, draft, this.options);
    await rename(draft, join(directory, ROOT));
  }

  async #read(directory: string): Promise<RootRecord | undefined> {
    const text = await readIfThere(join(directory, RECORD));
    return text === undefined ? undefined : JSON.parse(text);
  }
}

function overlayIn(directory: string, files: string): Overlay {
  return { lower: files, upper: join(directory, UPPER), work: join(directory, WORK), target: join(directory, ROOT) };
}
