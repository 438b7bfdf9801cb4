/** Reading regular files. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, descriptorPath } from './descriptors.ts';
import { FileTooLargeError } from './errors.ts';

/**
 * Flags for opening untrusted files: a link could lead to any file of the node, and opening a pipe would wait for a
 * writer, in one of the few threads for files.
 */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const CHUNK_BYTES = 64 * 1024;

/** Opens a file in a trusted directory whose entries others may write; undefined unless it is a regular file. */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, READ | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

/** Opens the target of a reference, if it is a regular file. The reference stays open. */
export async function openReferredFile(reference: FileHandle): Promise<FileHandle | undefined> {
  if (!(await reference.stat()).isFile()) return undefined;
  return open(descriptorPath(reference), READ);
}

/** Reads to the end. Rejects with a FileTooLargeError, also when the file grows while being read. */
export async function readWhole(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, bytes);
    if (bytesRead === 0) return Buffer.concat(parts);
    bytes += bytesRead;
    if (bytes > maxBytes) throw new FileTooLargeError(`the file is larger than ${maxBytes} bytes`);
    parts.push(buffer.subarray(0, bytesRead));
  }
}
