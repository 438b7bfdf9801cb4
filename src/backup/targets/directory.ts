/** Backup files in a directory that only this user can enter. */
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { ifMissing } from '../../base/files/if-missing.ts';
import { syncDirectory } from '../../base/files/own/files.ts';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from '../../base/files/own/modes.ts';
import {
  type FileHandle,
  lstat,
  makeDirectory,
  open,
  readdir,
  rename,
  rm,
  type Stats,
} from '../../base/files/own/own-files.ts';
import type { Random } from '../../base/random.ts';
import {
  type BackupTarget,
  type ByteRange,
  checkFileName,
  isFileName,
  TargetError,
  type TargetFile,
  type TidyOptions,
} from '../target.ts';
import { diskError } from './disk-error.ts';

export interface DirectoryOptions {
  readonly random: Random;
  readonly now: () => number;
}

/** A name that no backup file has: `.NAME.RANDOM.partial`. */
const PARTIAL = /^\..+\.[0-9a-f]{16}\.partial$/;
/** A writer touches its file more often than that, so an older one has no writer. */
const ABANDONED_MS = 60 * 60_000;
/** Neither follows a link nor waits for the writer of a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READ_BYTES = 256 * 1024;

export class DirectoryTarget implements BackupTarget {
  constructor(
    readonly name: string,
    private readonly options: DirectoryOptions,
  ) {}

  async list(signal?: AbortSignal): Promise<readonly TargetFile[]> {
    return this.#explained(async () => {
      const files: TargetFile[] = [];
      for (const name of (await this.#names()).filter(isFileName).sort()) {
        signal?.throwIfAborted();
        const found = await lstat(this.#path(name)).catch(ifMissing);
        if (found?.isFile()) files.push({ name, bytes: found.size, modified: found.mtimeMs });
      }
      return files;
    });
  }

  async put(name: string, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
    checkFileName(name);
    const partial = this.#path(`.${name}.${this.options.random.bytes(8).toString('hex')}.partial`);
    const handle = await this.#explained(async () => {
      if (await makeDirectory(this.name, PRIVATE_DIRECTORY)) await syncDirectory(dirname(this.name));
      return open(partial, 'wx', PRIVATE_FILE);
    });
    try {
      await this.#write(handle, content, signal);
      signal?.throwIfAborted();
      await this.#explained(() => rename(partial, this.#path(name)));
    } catch (error) {
      await rm(partial, { force: true }).catch(() => {});
      throw error;
    }
    await this.#explained(() => syncDirectory(this.name));
  }

  async #write(handle: FileHandle, content: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Promise<void> {
    try {
      for await (const chunk of content) {
        signal?.throwIfAborted();
        await this.#explained(() => writeAll(handle, chunk));
      }
      await this.#explained(() => handle.sync());
    } finally {
      await handle.close();
    }
  }

  async *get(name: string, range?: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    checkFileName(name);
    const handle = await this.#explained(() => open(this.#path(name), READ_FLAGS));
    try {
      const { size } = await this.#explained(() => regularFile(handle, this.#path(name)));
      const until = Math.min(size, range?.until ?? size);
      let at = range?.from ?? 0;
      while (at < until) {
        signal?.throwIfAborted();
        const room = Buffer.allocUnsafe(Math.min(READ_BYTES, until - at));
        const { bytesRead } = await this.#explained(() => handle.read(room, 0, room.length, at));
        if (bytesRead === 0)
          throw new TargetError('Unavailable', `${this.#path(name)} was shortened while it was read`);
        at += bytesRead;
        yield room.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  async remove(name: string): Promise<void> {
    checkFileName(name);
    await this.#explained(async () => {
      await rm(this.#path(name), { force: true });
      await syncDirectory(this.name).catch(ifMissing);
    });
  }

  async tidy({ isAlone, signal }: TidyOptions = {}): Promise<void> {
    const limit = isAlone ? Number.POSITIVE_INFINITY : this.options.now() - ABANDONED_MS;
    await this.#explained(async () => {
      for (const name of await this.#names()) {
        signal?.throwIfAborted();
        if (!PARTIAL.test(name)) continue;
        const found = await lstat(this.#path(name)).catch(ifMissing);
        if (found?.isFile() && found.mtimeMs < limit) await rm(this.#path(name), { force: true });
      }
    });
  }

  async #names(): Promise<readonly string[]> {
    return (await readdir(this.name).catch(ifMissing)) ?? [];
  }

  #path(name: string): string {
    return `${this.name}/${name}`;
  }

  async #explained<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await task();
    } catch (error) {
      throw diskError(this.name, error);
    }
  }
}

async function regularFile(handle: FileHandle, path: string): Promise<Stats> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new TargetError('Invalid', `${path}: expected a regular file`);
  return stats;
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}
