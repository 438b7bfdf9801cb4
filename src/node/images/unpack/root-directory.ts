/** Finds paths of an image below a directory, as a process would find them whose root it is. */
import { lstat, mkdir, readlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { RuntimeError } from '../../runtime/errors.ts';

/** As many as Linux follows. */
const MAX_LINKS = 40;
const DIRECTORY_MODE = 0o755;

export class RootDirectory {
  /** The parent that was found last: files of one directory follow each other. */
  #last: { readonly parent: string; readonly found: string } | undefined;

  constructor(readonly path: string) {}

  /** Where a path is, with links on the way to it resolved and missing directories made. The last part is not followed. */
  async place(path: string): Promise<string> {
    const { parent, name } = split(path);
    if (name === '') return this.path;
    if (this.#last?.parent !== parent) {
      const found = await this.#resolve(parent, true);
      this.#last = { parent, found: found! };
    }
    return join(this.#last.found, name);
  }

  /** Like `place`, but undefined when a directory on the way is missing. */
  async find(path: string): Promise<string | undefined> {
    const { parent, name } = split(path);
    const found = await this.#resolve(parent, false);
    return found === undefined ? undefined : join(found, name);
  }

  /** To be called when a link or directory was made or removed. */
  changed(): void {
    this.#last = undefined;
  }

  async #resolve(path: string, create: boolean): Promise<string | undefined> {
    const left = parts(path).reverse();
    let current = this.path;
    for (let links = 0; left.length > 0; ) {
      const part = left.pop()!;
      if (part === '..') {
        if (current !== this.path) current = dirname(current);
        continue;
      }
      const next = join(current, part);
      const kind = await kindOf(next);
      if (kind === 'link') {
        if (++links > MAX_LINKS) throw new RuntimeError('Unknown', `too many links on the way to ${path}`);
        const target = await readlink(next);
        if (target.startsWith('/')) current = this.path;
        left.push(...parts(target).reverse());
        continue;
      }
      if (kind === 'other') {
        if (!create) return undefined;
        throw new RuntimeError('Unknown', `${path} is in something that is not a directory`);
      }
      if (kind === 'missing') {
        if (!create) return undefined;
        await mkdir(next, { mode: DIRECTORY_MODE });
      }
      current = next;
    }
    return current;
  }
}

/** A path that begins with `..` is one below the root. */
function split(path: string): { parent: string; name: string } {
  const clean = posix.normalize(`/${path}`);
  return { parent: posix.dirname(clean), name: posix.basename(clean) };
}

const parts = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');

async function kindOf(path: string): Promise<'directory' | 'link' | 'other' | 'missing'> {
  try {
    const found = await lstat(path);
    return found.isDirectory() ? 'directory' : found.isSymbolicLink() ? 'link' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
}
