/** Keeps content that expands when it is decompressed from filling the disk. */
import { statfs } from '../../../base/files/own/own-files.ts';
import { RuntimeError } from '../../runtime/errors.ts';

/** Space left to the rest of the node: this share of the disk, and at most so many bytes. */
const RESERVED_SHARE = 0.05;
const MAX_RESERVED_BYTES = 2 ** 30;
/** Bytes written between two checks of the disk, which others fill, too. Files need more than their headers. */
const CHECK_EVERY_BYTES = 16 * 2 ** 20;

interface DiskRoom {
  readonly bytes: number;
  /** True when more files can be created. */
  readonly hasFiles: boolean;
}

async function roomIn(directory: string): Promise<DiskRoom> {
  const { bsize, blocks, bavail, files, ffree } = await statfs(directory);
  const reserved = Math.min(blocks * bsize * RESERVED_SHARE, MAX_RESERVED_BYTES);
  // Some file systems have no fixed number of files, and report 0.
  return { bytes: bavail * bsize - reserved, hasFiles: files === 0 || ffree > files * RESERVED_SHARE };
}

/** Rejects when there is not enough room. `what` is named in the error. */
export async function checkRoom(directory: string, what: string, bytes: number): Promise<void> {
  const room = await roomIn(directory);
  if (bytes > room.bytes || !room.hasFiles) throw noRoom(what, directory);
}

/**
 * Passes on data that is about to be written into a directory, as long as there is room. More than there was room for
 * at the beginning is rejected even if it is not written: it may be endless.
 */
export async function* withinRoom(
  source: AsyncIterable<Buffer>,
  directory: string,
  what: string,
): AsyncGenerator<Buffer> {
  const first = await roomIn(directory);
  let total = 0;
  let unchecked = 0;
  for await (const part of source) {
    total += part.length;
    unchecked += part.length;
    if (total > first.bytes) throw noRoom(what, directory);
    if (unchecked >= CHECK_EVERY_BYTES) {
      unchecked = 0;
      await checkRoom(directory, what, 0);
    }
    yield part;
  }
}

function noRoom(what: string, directory: string): RuntimeError {
  return new RuntimeError('Unknown', `${what} needs more space than the disk of ${directory} has to spare`);
}
