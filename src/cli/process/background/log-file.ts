/** The log of a cluster or an agent that runs in the background. */

import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmptyDirectories } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';

/** A log that has grown beyond this is moved to qd.log.1 at the next start. */
const MAX_KEPT_BYTES = 10 * 2 ** 20;

export interface LogFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** Reads what was written since the file was opened. */
  readNew(): Promise<string>;
  /** Closes the file, which the program in the background has open itself. */
  close(): Promise<void>;
  /** Removes the file, and its directory, if they were created for this start and hold nothing else. */
  undo(): Promise<void>;
}

/** Opens the log for appending; the directory may be missing. */
export async function openLogFile(directory: string): Promise<LogFile> {
  const path = join(directory, 'qd.log');
  const created = await makeDirectories(directory, 0o700);
  const size = (await stat(path).catch(() => undefined))?.size;
  if (size !== undefined && size > MAX_KEPT_BYTES) await rename(path, `${path}.1`);
  const handle = await open(path, 'a+', 0o600);
  const start = (await handle.stat()).size;
  return {
    path,
    handle,
    async readNew() {
      const length = (await handle.stat()).size - start;
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead).toString();
    },
    close: () => handle.close(),
    async undo() {
      // Another start may have created a cluster there meanwhile, which has the file open.
      if (created === undefined || (await readdir(directory)).length > 1) return;
      await rm(path, { force: true });
      await removeEmptyDirectories(directory, created);
    },
  };
}
