import { codeOf } from './descriptors.ts';
import { PathInsideError } from './errors.ts';
import { type Links, openInside } from './open-inside.ts';
import { openReferredFile, readWhole } from './regular-file.ts';

export interface ReadOptions {
  readonly links: Links;
  readonly maxBytes: number;
}

/** Reads a regular file inside a root. Returns undefined when there is none. Rejects with a FileTooLargeError. */
export async function readInside(root: string, path: string, options: ReadOptions): Promise<Buffer | undefined> {
  const reference = await openInside(root, path, options).catch(ifNone);
  if (!reference) return undefined;
  try {
    const file = await openReferredFile(reference);
    if (!file) return undefined;
    try {
      return await readWhole(file, options.maxBytes);
    } finally {
      await file.close();
    }
  } finally {
    await reference.close();
  }
}

function ifNone(error: unknown): undefined {
  const isNone = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(error) ?? '');
  if (!isNone && !(error instanceof PathInsideError)) throw error;
}
