/** Measures the disk usage of a tree. */
import { lstat } from 'node:fs/promises';
import { codeOf } from './descriptors.ts';
import { TreeTooDeepError } from './errors.ts';
import { OpenDirectory } from './open-directory.ts';

const BLOCK_BYTES = 512;
/** Limit for remembered hard-linked files: further ones count once for each name. */
const MAX_LINKED = 100_000;
/** Limit for open directories, which are those with siblings left to visit. */
const MAX_OPEN = 500;

interface Level {
  readonly directory: OpenDirectory;
  readonly left: string[];
}

/**
 * Returns the bytes of a file, or of a directory with everything in it. Links are not followed, other file systems below it are not
 * counted, hard links count once, and files that vanish meanwhile do not count. Rejects with a TreeTooDeepError.
 */
export async function treeBytes(path: string): Promise<number> {
  const top = await lstat(path).catch(ifGone);
  if (!top) return 0;
  if (!top.isDirectory()) return top.blocks * BLOCK_BYTES;
  const root = await OpenDirectory.open(path).catch(ifGone);
  if (!root) return 0;
  const walk = new Measurement((await root.stat()).dev);
  const levels: Level[] = [];
  try {
    levels.push({ directory: root, left: await walk.measure(root) });
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const name = level.left.pop();
      const next = name === undefined ? undefined : await level.directory.directory(name);
      // Closes the level before going deeper, so that the depth of a chain of directories is unlimited.
      if (level.left.length === 0) {
        levels.pop();
        await level.directory.close();
      }
      if (!next) continue;
      if (levels.push({ directory: next, left: await walk.measure(next) }) > MAX_OPEN) {
        throw new TreeTooDeepError(`directories are nested more than ${MAX_OPEN} levels deep`);
      }
    }
  } finally {
    for (const { directory } of levels) await directory.close();
  }
  return walk.bytes;
}

class Measurement {
  bytes = 0;
  readonly #linked = new Set<number>();

  constructor(private readonly device: number) {}

  /** Adds a directory and its files, and returns its subdirectories. */
  async measure(directory: OpenDirectory): Promise<string[]> {
    const { dev, blocks } = await directory.stat();
    if (dev !== this.device) return [];
    this.bytes += blocks * BLOCK_BYTES;
    const inner: string[] = [];
    const entries = await directory.entries().catch(ifGone);
    // Iterates instead of reading all entries at once: a container may have created millions.
    for await (const entry of entries ?? []) {
      if (entry.isDirectory()) inner.push(entry.name);
      else await this.#addFile(directory, entry.name);
    }
    return inner;
  }

  async #addFile(directory: OpenDirectory, name: string): Promise<void> {
    const found = await directory.find(name).catch(ifGone);
    if (!found || found.dev !== this.device) return;
    if (found.nlink > 1) {
      if (this.#linked.has(found.ino)) return;
      if (this.#linked.size < MAX_LINKED) this.#linked.add(found.ino);
    }
    this.bytes += found.blocks * BLOCK_BYTES;
  }
}

function ifGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'EACCES') throw error;
}
