import { type FileHandle, open, statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { StoreFull } from '../store.ts';
import { readMeta } from './lmdb-file.ts';

const MEBIBYTE = 2 ** 20;
const SMALLEST_STEP = MEBIBYTE;
const LARGEST_STEP = 32 * MEBIBYTE;

/**
 * Room in the data file, taken before LMDB needs it. So a full disk shows here, as zeros that cannot be written, and
 * changes nothing; LMDB's own writes go to blocks that the file has already. LMDB, too, would give up a transaction
 * cleanly, but lmdb 3.5 overruns a buffer while it words the error, and may take the process with it.
 *
 * The zeros are appended, so that they never replace anything, whoever else may write to the file.
 */
export class Reserve {
  readonly #path: string;
  readonly #file: FileHandle;
  /** The file is at least as long. */
  #size = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async open(path: string): Promise<Reserve> {
    return new Reserve(path, await open(path, 'a+', 0o600));
  }

  /** Makes sure of this many pages behind the last one in use. Rejects with StoreFull. */
  async take(pages: number): Promise<void> {
    if (this.#size === 0) await this.#look();
    if (this.#size === 0) return this.#checkDisk();
    const { pageSize, lastPage } = readMeta(this.#file.fd);
    const wanted = (lastPage + 1 + pages) * pageSize;
    if (wanted <= this.#size) return;
    try {
      await this.#grow(wanted);
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#look();
      if (this.#size < wanted) throw new StoreFull('the disk is full', { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #look(): Promise<void> {
    this.#size = (await this.#file.stat()).size;
  }

  /** LMDB must find a new file empty, so that room for its first pages can only be looked for. */
  async #checkDisk(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#path);
    if (bavail * bsize < SMALLEST_STEP) throw new StoreFull('the disk is full');
  }

  async #grow(wanted: number): Promise<void> {
    await this.#look();
    const step = Math.min(Math.max(this.#size / 8, SMALLEST_STEP), LARGEST_STEP);
    const size = Math.ceil((wanted + step) / MEBIBYTE) * MEBIBYTE;
    const zeros = Buffer.alloc(MEBIBYTE);
    while (this.#size < size) {
      const { bytesWritten } = await this.#file.write(zeros, 0, Math.min(MEBIBYTE, size - this.#size));
      this.#size += bytesWritten;
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
