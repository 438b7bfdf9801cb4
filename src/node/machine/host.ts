/** Reads the files in which Linux describes a machine. */
import { readdir, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';

export interface FileSystemUsage {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly freeInodes: number;
}

export class Host {
  /** `root` is another than `/` in tests. */
  constructor(readonly root = '/') {}

  /** Undefined when there is no such file, or when it may not be read. */
  async text(path: string): Promise<string | undefined> {
    return (await readFile(join(this.root, path), 'utf8').catch(() => undefined))?.trim();
  }

  async names(path: string): Promise<readonly string[]> {
    return readdir(join(this.root, path)).catch(() => []);
  }

  /** The amounts of /proc/meminfo, in bytes. */
  async memory(): Promise<ReadonlyMap<string, number>> {
    const lines = (await this.text('proc/meminfo'))?.split('\n') ?? [];
    return new Map(
      lines.flatMap((line): [string, number][] => {
        const [, name, kibibytes] = /^(\S+):\s+(\d+) kB$/.exec(line) ?? [];
        return name === undefined ? [] : [[name, Number(kibibytes) * 1024]];
      }),
    );
  }

  async fileSystem(path: string): Promise<FileSystemUsage> {
    const { bsize, blocks, bavail, files, ffree } = await statfs(path);
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, freeInodes: ffree };
  }

  async cgroupVersion(): Promise<1 | 2> {
    return (await this.text('sys/fs/cgroup/cgroup.controllers')) === undefined ? 1 : 2;
  }
}
