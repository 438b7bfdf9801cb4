/** The file system for files that must never be on a disk: a tmpfs that all pods of the node share, and only the agent writes to. */

import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { makeDirectory } from '../../../base/files/own/own-files.ts';
import type { Logger } from '../../../base/log.ts';
import type { Mounter } from './mounter.ts';
import { namesIn } from './names-in.ts';

/**
 * Options of the tmpfs for all volumes. A separate mount for each volume would run two more programs before a pod can
 * start.
 */
const OPTIONS = ['nosuid', 'nodev', `mode=${TRAVERSED_DIRECTORY.toString(8)}`];
/** Swap is a disk, too. Kernels since 6.4 can leave it out, and older ones reject the option. */
const NO_SWAP = 'noswap';

export class SecretMemory {
  #mounting: Promise<boolean> | undefined;

  constructor(
    private readonly directory: string,
    private readonly mounter: Mounter,
    private readonly log: Logger,
  ) {}

  /** Mounts it unless it is. Returns false where nothing can be mounted. */
  ensure(): Promise<boolean> {
    if (!this.mounter.canMount) return Promise.resolve(false);
    this.#mounting ??= this.#mount();
    return this.#mounting;
  }

  /** Unmounts it if no pod has anything in it. */
  async close(): Promise<void> {
    if (!this.mounter.canMount || (await namesIn(this.directory)).length > 0) return;
    this.#mounting = undefined;
    await this.mounter.unmount(this.directory);
  }

  async #mount(): Promise<boolean> {
    const spec = { type: 'tmpfs', source: 'tmpfs', target: this.directory };
    await makeDirectory(this.directory, TRAVERSED_DIRECTORY);
    if ((await this.mounter.entries()).some(({ mountPoint }) => mountPoint === this.directory)) return true;
    const mount = (options: readonly string[]) => this.mounter.mount({ ...spec, options });
    try {
      await mount([...OPTIONS, NO_SWAP]).catch(() => mount(OPTIONS));
      return true;
    } catch (error) {
      this.log.warn('Secrets and tokens of pods are on disk, because no tmpfs can be mounted', {
        error: String(error),
      });
      return false;
    }
  }
}
