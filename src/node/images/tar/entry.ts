/** Header of a file in a tar archive. */

export type EntryType = 'file' | 'directory' | 'symlink' | 'hardlink' | 'character' | 'block' | 'fifo';

export interface EntryHeader {
  readonly type: EntryType;
  /** Path as in the archive: it may be absolute, and lead out of the archive. */
  readonly path: string;
  /** Permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Bytes of content. */
  readonly size: number;
  /** Seconds since the epoch. */
  readonly mtime: number;
  /** Target of links. */
  readonly linkTarget: string;
}

export class TarError extends Error {
  override readonly name = 'TarError';
}

/** Headers, contents and the end of an archive are made of these. */
export const BLOCK_BYTES = 512;

/** Bytes that follow a content of this size, up to the next block. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

export const TYPE_FLAGS: Readonly<Record<EntryType, string>> = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  character: '3',
  block: '4',
  directory: '5',
  fifo: '6',
};
