/** Finds paths of an image below a directory, as a process would find them whose root it is. */
import { posix } from 'node:path';
import { PathInsideError } from '../../../base/files/inside/errors.ts';
import { OpenDirectory } from '../../../base/files/inside/open-directory.ts';
import { openInside } from '../../../base/files/inside/open-inside.ts';
import { RuntimeError } from '../../runtime/errors.ts';

const DIRECTORY_MODE = 0o755;

/** A name in a directory that is open until the root is asked for another one. */
export interface Place {
  readonly directory: OpenDirectory;
  readonly name: string;
}

export class RootDirectory {
  /** Parent that was found last: files of one directory usually come in a row. */
  #last: { readonly parent: string; readonly directory: OpenDirectory } | undefined;

  private constructor(private readonly path: string) {}

  /** Opens a root for `work`, and closes it after that. */
  static async use<T>(path: string, work: (root: RootDirectory) => Promise<T>): Promise<T> {
    const root = new RootDirectory(path);
    try {
      return await work(root);
    } finally {
      await root.changed();
    }
  }

  /**
   * Returns the location of a path, with links on the way to it resolved and missing directories created. The last part
   * is not followed. Undefined for the root itself.
   */
  async place(path: string): Promise<Place | undefined> {
    const { parent, name } = split(path);
    if (name === '') return undefined;
    if (this.#last?.parent !== parent) {
      await this.changed();
      this.#last = { parent, directory: (await this.#open(parent, true))! };
    }
    return { directory: this.#last!.directory, name };
  }

  /**
   * Works like `place`, but creates nothing: undefined when a directory on the way is missing. The caller closes the
   * directory.
   */
  async find(path: string): Promise<Place | undefined> {
    const { parent, name } = split(path);
    const directory = name === '' ? undefined : await this.#open(parent, false);
    return directory && { directory, name };
  }

  /** The root itself. The caller closes it. */
  root(): Promise<OpenDirectory> {
    return OpenDirectory.open(this.path);
  }

  /** Notes that a link or directory was made or removed. */
  async changed(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    await last?.directory.close();
  }

  async #open(path: string, creates: boolean): Promise<OpenDirectory | undefined> {
    const create = creates ? { create: { mode: DIRECTORY_MODE } } : {};
    try {
      const handle = await openInside(this.path, path, { links: 'chroot', ...create });
      if ((await handle.stat()).isDirectory()) return new OpenDirectory(handle);
      await handle.close();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (error instanceof PathInsideError) throw new RuntimeError('Unknown', error.message, { cause: error });
      if (code !== 'ENOTDIR' && (creates || code !== 'ENOENT')) throw error;
    }
    if (creates) throw new RuntimeError('Unknown', `${path} is in something that is not a directory`);
    return undefined;
  }
}

/** A path that begins with `..` is one below the root. */
function split(path: string): { parent: string; name: string } {
  const clean = posix.normalize(`/${path}`).replace(/(?<=.)\/$/, '');
  return { parent: posix.dirname(clean), name: posix.basename(clean) };
}
