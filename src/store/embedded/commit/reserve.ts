import { statfsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Clock } from '../../../base/time/clock.ts';
import { StoreFull } from '../../store.ts';
import { readMeta } from '../data-file/meta.ts';

const MEBIBYTE = 2 ** 20;

/** Free space with which other programs do not fill the disk between the check and the flush. */
const PLENTY_BYTES = 64 * MEBIBYTE;

/** Free space with which periodic checks are enough. */
const AMPLE_BYTES = 1024 * MEBIBYTE;
const CHECK_INTERVAL_MS = 20;

const PAGE_BYTES = 4096;

/**
 * Reserves disk space for a flush before LMDB begins it. LMDB aborts a transaction cleanly when a write fails, but the
 * lmdb package (seen in 3.5.6) overruns a buffer when it formats the error, which can crash the process.
 *
 * With plenty of free space, there is nothing to do. Otherwise the data file is extended with zeros first: if that
 * fails, nothing has changed, and if it succeeds, LMDB writes to allocated blocks. The zeros are appended, so they
 * never overwrite anything, even if another process writes to the file.
 */
export class Reserve {
  /** Time when free space was last ample, and the bytes that may be used before the next check. */
  #ampleAt = Number.NEGATIVE_INFINITY;
  #unchecked = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly clock: Clock,
  ) {}

  static async open(path: string, clock: Clock): Promise<Reserve> {
    return new Reserve(path, await open(path, 'a+', 0o600), clock);
  }

  /** Reserves space for this many pages. Rejects with StoreFull. */
  async take(pages: number): Promise<void> {
    const needed = pages * PAGE_BYTES;
    const now = this.clock.now();
    this.#unchecked -= needed;
    // The clock may be set back, or stand still.
    if (this.#unchecked >= 0 && Math.abs(now - this.#ampleAt) < CHECK_INTERVAL_MS) return;
    const { bavail, bsize } = statfsSync(this.path);
    const free = bavail * bsize;
    if (free > AMPLE_BYTES) {
      this.#ampleAt = now;
      this.#unchecked = PLENTY_BYTES;
    }
    if (free > PLENTY_BYTES + needed) return;
    const { size } = await this.file.stat();
    if (size > 0) await this.#extend(size, pages);
    // LMDB requires a new file to be empty, so it cannot be extended.
    else if (free < MEBIBYTE) throw new StoreFull('the disk is full');
  }

  close(): Promise<void> {
    return this.file.close();
  }

  async #extend(size: number, pages: number): Promise<void> {
    const { pageSize, lastPage } = readMeta(this.file.fd);
    const wanted = (lastPage + 1 + pages) * pageSize;
    const zeros = Buffer.alloc(MEBIBYTE);
    let end = size;
    try {
      while (end < wanted) end += (await this.file.write(zeros)).bytesWritten;
    } catch (error) {
      if (!isFull(error)) throw error;
      if (end < wanted) throw new StoreFull('the disk is full', { cause: error });
    }
  }
}

/** Reports whether an error of the file system or of LMDB means that the disk is full. */
export function isFull(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return FULL.includes(code as string | number);
}

const MDB_MAP_FULL = -30_792;
const FULL = ['ENOSPC', 'EDQUOT', constants.errno.ENOSPC, constants.errno.EDQUOT, MDB_MAP_FULL];
