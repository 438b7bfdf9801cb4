/**
 * The file format of backups: a magic number, then blocks in this order: what the file is, the files of the data directory, history,
 * objects, and an end with a digest of everything before it. Blocks are compressed one by one, and each has a checksum.
 */
import { createHash } from 'node:crypto';

/** A backup that cannot be read: damaged, truncated, of another format, or no backup at all. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged';
}

/** The last byte is the version of the format. */
export const MAGIC = Buffer.from('QDBACKUP\u0001', 'latin1');

/** The kinds of blocks, by the byte that stands for each, in the order in which they may follow each other. */
export const BLOCK_KINDS = ['about', 'files', 'changes', 'rows', 'end'] as const;

export type BlockKind = (typeof BLOCK_KINDS)[number];

/** Kind, bytes of the content, bytes as stored, checksum. */
export const BLOCK_HEAD_BYTES = 1 + 4 + 4;
export const CHECKSUM_BYTES = 16;

/** Size at which a block is written. Each takes a quarter of a megabyte of zlib's, which counts for the garbage collector. */
export const FULL_BLOCK_BYTES = 512 * 1024;
/** Maximum size of the content of a block: one record may be larger than a full block. */
export const MAX_BLOCK_BYTES = 128 * 2 ** 20;
/** Maximum size of what is not objects: settings, keys. */
export const MAX_DOCUMENT_BYTES = 16 * 2 ** 20;

/** Checksum of a block: of its head and of what is stored. */
export function checksumOf(head: Uint8Array, stored: Uint8Array): Buffer {
  return createHash('sha256').update(head).update(stored).digest().subarray(0, CHECKSUM_BYTES);
}
