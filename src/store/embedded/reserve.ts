import { type FileHandle, open } from 'node:fs/promises';
import { constants } from 'node:os';
import { StoreFull } from '../store.ts';
import { readMeta } from './lmdb-file.ts';

const MEBIBYTE = 2 ** 20;
const SMALLEST_STEP = MEBIBYTE;
const LARGEST_STEP = 32 * MEBIBYTE;

/**
 * Room in the data file, taken before LMDB needs it. So a full disk shows here, as a write of zeros that fails and
 * changes nothing, and LMDB's own writes go to blocks that the file has already: LMDB aborts cleanly when one fails, but
 * lmdb 3.5 overruns a buffer while it words the error, and may take the process with it.
 */
export class Reserve {
  readonly #file: FileHandle;
  #size: number;

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  /** The file exists: LMDB has made it. */
  static async open(path: string): Promise<Reserve> {
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    return new Reserve(file, size);
  }

  /** Makes sure of this many pages behind the last one in use. Rejects with StoreFull. */
  async take(pages: number): Promise<void> {
    const { pageSize, lastPage } = readMeta(this.#file.fd);
    const wanted = (lastPage + 1 + pages) * pageSize;
    if (wanted <= this.#size) return;
    const step = Math.min(Math.max(this.#size / 8, SMALLEST_STEP), LARGEST_STEP);
    try {
      await this.#grow(Math.ceil((wanted + step) / MEBIBYTE) * MEBIBYTE);
    } catch (error) {
      if (!isFull(error)) throw error;
      if (this.#size < wanted) throw new StoreFull('the disk is full', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #grow(size: number): Promise<void> {
    const zeros = Buffer.alloc(MEBIBYTE);
    while (this.#size < size) {
      const { bytesWritten } = await this.#file.write(zeros, 0, Math.min(MEBIBYTE, size - this.#size), this.#size);
      this.#size += bytesWritten;
    }
  }
}

/** Whether an error of the file system, or of LMDB, says that there is no room. */
export function isFull(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: number };
  const { ENOSPC, EDQUOT } = constants.errno;
  return [ENOSPC, EDQUOT, MAP_FULL].some((full) => code === full || errno === -full) || code === 'ENOSPC';
}

const MAP_FULL = -30_792;
