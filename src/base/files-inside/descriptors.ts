/** Open files as paths: what is open stays the same file whatever becomes of its name. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Opens a file as a mere reference to it, which needs no right to read and never blocks. Node does not export it. */
const O_PATH = 0o10000000;

/** Flags of a reference to what has a name, also when that is a link. */
export const REFERENCE = O_PATH | constants.O_NOFOLLOW;
export const DIRECTORY = REFERENCE | constants.O_DIRECTORY;

/** The path of an open file. It is valid for programs that this process starts, too. */
export const descriptorPath = (handle: FileHandle): string => `/proc/${process.pid}/fd/${handle.fd}`;

/** Opens the directory that is the root of what others control. Its own path is ours, so that links in it are followed. */
export const openRoot = (path: string): Promise<FileHandle> => open(path, O_PATH | constants.O_DIRECTORY);

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
