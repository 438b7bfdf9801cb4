/** Paths of open files: they stay valid when the file is renamed or replaced. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The flag O_PATH, which needs no permission to read and never blocks. Node does not export it. */
const O_PATH = 0o10000000;

/** Flags to open a reference to a directory entry, or to a symbolic link itself. */
export const REFERENCE = O_PATH | constants.O_NOFOLLOW;
export const DIRECTORY = REFERENCE | constants.O_DIRECTORY;

/** The path of an open file, also valid for programs that this process starts. */
export const descriptorPath = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`;

/** Opens a directory as the root of files that others control. Its own path is trusted, so links in it are followed. */
export const openRoot = (path: string): Promise<FileHandle> => open(path, O_PATH | constants.O_DIRECTORY);

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
