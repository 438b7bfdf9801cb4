import { statfsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { StoreFull } from '../store.ts';
import { readMeta } from './lmdb-file.ts';

const MEBIBYTE = 2 ** 20;

/** So much is not used up by others between a look and a flush. */
const PLENTY = 64 * MEBIBYTE;

/** With so much it is enough to look now and then: in so many milliseconds nobody else uses it up. */
const AMPLE = 1024 * MEBIBYTE;
const NOW_AND_THEN = 20;

const PAGE = 4096;

/**
 * Makes sure that there is room for a flush before LMDB begins it. LMDB would give up a transaction cleanly when a write
 * of its own finds none, but lmdb 3.5 overruns a buffer while it words the error, and may take the process with it.
 *
 * While the disk has plenty, that is all there is to it. When it gets scarce, the data file is made longer first: then
 * the lack of room shows as zeros that cannot be written, which changes nothing, and LMDB's writes go to blocks that the
 * file has already. The zeros are appended, so that they never replace anything, whoever else may write to the file.
 */
export class Reserve {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #clock: Clock;
  /** When there was ample room, and how much of it may still be taken without another look. */
  #ampleAt = Number.NEGATIVE_INFINITY;
  #unseen = 0;

  private constructor(path: string, file: FileHandle, clock: Clock) {
    this.#path = path;
    this.#file = file;
    this.#clock = clock;
  }

  static async open(path: string, clock: Clock): Promise<Reserve> {
    return new Reserve(path, await open(path, 'a+', 0o600), clock);
  }

  /** Makes sure of room for this many pages. Rejects with StoreFull. */
  async take(pages: number): Promise<void> {
    const needed = pages * PAGE;
    const now = this.#clock.now();
    this.#unseen -= needed;
    // A clock may be set back, or stand still.
    if (this.#unseen >= 0 && Math.abs(now - this.#ampleAt) < NOW_AND_THEN) return;
    const { bavail, bsize } = statfsSync(this.#path);
    const room = bavail * bsize;
    if (room > AMPLE) {
      this.#ampleAt = now;
      this.#unseen = PLENTY;
    }
    if (room > PLENTY + needed) return;
    const { size } = await this.#file.stat();
    if (size > 0) await this.#extend(size, pages);
    // LMDB must find a new file empty, so that room for its first pages can only be looked for.
    else if (room < MEBIBYTE) throw new StoreFull('the disk is full');
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #extend(size: number, pages: number): Promise<void> {
    const { pageSize, lastPage } = readMeta(this.#file.fd);
    const wanted = (lastPage + 1 + pages) * pageSize;
    const zeros = Buffer.alloc(MEBIBYTE);
    let end = size;
    try {
      while (end < wanted) end += (await this.#file.write(zeros)).bytesWritten;
    } catch (error) {
      if (!isFull(error)) throw error;
      if (end < wanted) throw new StoreFull('the disk is full', { cause: error });
    }
  }
}

/** Whether an error of the file system, or of LMDB, says that there is no room. */
export function isFull(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return FULL.includes(code as string | number);
}

const MAP_FULL = -30_792;
const FULL = ['ENOSPC', 'EDQUOT', constants.errno.ENOSPC, constants.errno.EDQUOT, MAP_FULL];
