/** An open directory whose entries are reached through its descriptor. Nothing here follows a link. */
import { constants, type Dir, type Stats } from 'node:fs';
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { ifMissing } from '../if-missing.ts';
import { codeOf, DIRECTORY, descriptorPath, openRoot, REFERENCE } from './descriptors.ts';
import { PathInsideError } from './errors.ts';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export class OpenDirectory {
  /** Takes ownership of a directory's handle. */
  constructor(private readonly handle: FileHandle) {}

  static async open(path: string): Promise<OpenDirectory> {
    return new OpenDirectory(await openRoot(path));
  }

  /** Path of the directory itself, valid while it is open. */
  get path(): string {
    return descriptorPath(this.handle);
  }

  stat(): Promise<Stats> {
    return this.handle.stat();
  }

  async setOwner({ uid, gid }: Owner): Promise<void> {
    await chown(this.path, uid, gid);
  }

  async setMode(mode: number): Promise<void> {
    await chmod(this.path, mode);
  }

  entries(): Promise<Dir> {
    return opendir(this.path);
  }

  async find(name: string): Promise<Stats | undefined> {
    return lstat(this.#at(name)).catch(ifMissing);
  }

  /** Opens a reference to an entry, or to a symbolic link itself. Returns undefined when there is none. */
  async reference(name: string): Promise<FileHandle | undefined> {
    return open(this.#at(name), REFERENCE).catch(ifMissing);
  }

  /** Opens a subdirectory. Returns undefined when there is none. */
  async directory(name: string): Promise<OpenDirectory | undefined> {
    try {
      return new OpenDirectory(await open(this.#at(name), DIRECTORY));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return undefined;
      throw error;
    }
  }

  async makeDirectory(name: string): Promise<OpenDirectory> {
    await mkdir(this.#at(name), { mode: 0o700 });
    const made = await this.directory(name);
    if (!made) throw new PathInsideError(`"${name}" is not the directory that was made`);
    return made;
  }

  /** Creates a file that only its owner may use; the caller closes it. Rejects with EEXIST when the name is taken. */
  createFile(name: string): Promise<FileHandle> {
    return open(
      this.#at(name),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
  }

  async symlink(name: string, target: string): Promise<void> {
    await symlink(target, this.#at(name));
  }

  readlink(name: string): Promise<string> {
    return readlink(this.#at(name));
  }

  /** Creates a hard link to a file of another directory. A symbolic link is linked itself, not its target. */
  async link(from: OpenDirectory, fromName: string, name: string): Promise<void> {
    await link(from.#at(fromName), this.#at(name));
  }

  async rename(name: string, to: OpenDirectory, newName: string): Promise<void> {
    await rename(this.#at(name), to.#at(newName));
  }

  /** Changes the owner of an entry; for a symbolic link, of the link itself. */
  async setOwnerOf(name: string, { uid, gid }: Owner): Promise<void> {
    await lchown(this.#at(name), uid, gid);
  }

  async setTimesOf(name: string, accessed: number | Date, modified: number | Date): Promise<void> {
    await lutimes(this.#at(name), accessed, modified);
  }

  /** Removes an entry; succeeds when there is none. */
  async unlink(name: string): Promise<void> {
    await unlink(this.#at(name)).catch(ifMissing);
  }

  async rmdir(name: string): Promise<void> {
    await rmdir(this.#at(name)).catch(ifMissing);
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  #at(name: string): string {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) {
      throw new PathInsideError(`"${name}" is not the name of a file`);
    }
    return `${this.path}/${name}`;
  }
}
