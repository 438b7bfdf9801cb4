import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { codeOf } from './descriptors.ts';
import { OpenDirectory } from './open-directory.ts';

/** Limit for the subdirectories collected from one directory before they are removed. */
const MAX_NOTED = 1_000;
/** Attempts to remove a directory that stays non-empty because others keep creating files in it. */
const MAX_ATTEMPTS = 3;
/** Limit for open levels. Deeper directories are moved up first. */
const MAX_DEPTH = 100;

/**
 * Removes a file, or a directory with everything in it, one entry after the other; does nothing if there is none.
 * Node's `rm` processes all entries of a directory at once, and resolves paths again: a program that creates 200,000
 * files would block the event loop for seconds, and one that swaps a directory for a link could choose what is removed.
 */
export async function removeTree(path: string): Promise<void> {
  // Other systems have neither descriptor paths nor containers.
  if (process.platform !== 'linux') return rm(path, { recursive: true, force: true });
  const parent = await OpenDirectory.open(dirname(path)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!parent) return;
  try {
    await removeFrom(parent, basename(path));
  } finally {
    await parent.close();
  }
}

interface Level {
  readonly name: string;
  readonly directory: OpenDirectory;
  /** Subdirectories still to be removed. */
  readonly noted: string[];
  attempts: number;
}

export async function removeFrom(parent: OpenDirectory, name: string): Promise<void> {
  const levels: Level[] = [];
  let moved = 0;
  const enter = async (from: OpenDirectory, next: string) => {
    const directory = await from.directory(next);
    if (directory) levels.push({ name: next, directory, noted: [], attempts: 0 });
    else await from.unlink(next);
  };
  try {
    await enter(parent, name);
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (level.noted.length === 0) await removeFiles(level);
      const inner = level.noted.pop();
      if (inner === undefined) {
        await leave(levels, parent);
      } else if (levels.length < MAX_DEPTH) {
        await enter(level.directory, inner);
      } else {
        const top = levels[0]!;
        const aside = `.removed-${++moved}`;
        await level.directory.rename(inner, top.directory, aside);
        top.noted.push(aside);
      }
    }
  } finally {
    for (const { directory } of levels) await directory.close();
  }
}

/** Removes a directory that has been emptied. */
async function leave(levels: Level[], parent: OpenDirectory): Promise<void> {
  const level = levels.at(-1)!;
  const outer = levels.at(-2)?.directory ?? parent;
  try {
    await outer.rmdir(level.name);
  } catch (error) {
    if (codeOf(error) === 'ENOTEMPTY' && ++level.attempts < MAX_ATTEMPTS) return;
    // The directory was replaced by a file, which is left alone.
    if (codeOf(error) !== 'ENOTDIR') throw error;
    await outer.unlink(level.name);
  }
  levels.pop();
  await level.directory.close();
}

/** Removes all files, and collects the subdirectories. */
async function removeFiles({ directory, noted }: Level): Promise<void> {
  for await (const entry of await directory.entries()) {
    if (!entry.isDirectory()) await directory.unlink(entry.name);
    else if (noted.push(entry.name) >= MAX_NOTED) break;
  }
}
