import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { codeOf } from './descriptors.ts';
import { OpenDirectory } from './open-directory.ts';

/** Subdirectories that are noted of one directory before they are removed. */
const MAX_NOTED = 1_000;
/** Of a directory that is not empty after its files were removed, because others are still made. */
const MAX_ATTEMPTS = 3;
/** Each level is kept open. What is nested deeper is moved up first. */
const MAX_DEPTH = 100;

/**
 * Removes a file, or a directory with everything in it, one entry after the other; nothing happens if there is none. Node's `rm`
 * begins with all entries of a directory at once, and resolves paths anew: a program that makes 200,000 files would block the event
 * loop for seconds, and one that exchanges a directory for a link meanwhile would choose what is removed.
 */
export async function removeTree(path: string): Promise<void> {
  // Elsewhere, there are no paths of descriptors, and no containers.
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
  /** Subdirectories that are left. */
  readonly noted: string[];
  attempts: number;
}

/** Removes what has the name in an open directory. */
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
    // It was exchanged for something else, which was not emptied.
    if (codeOf(error) !== 'ENOTDIR') throw error;
    await outer.unlink(level.name);
  }
  levels.pop();
  await level.directory.close();
}

/** Removes what is no directory, and notes the directories. */
async function removeFiles({ directory, noted }: Level): Promise<void> {
  for await (const entry of await directory.entries()) {
    if (!entry.isDirectory()) await directory.unlink(entry.name);
    else if (noted.push(entry.name) >= MAX_NOTED) break;
  }
}
