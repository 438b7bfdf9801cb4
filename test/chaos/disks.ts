/** Disks of machines: file systems of a fixed size, in files in memory, that can be filled and slowed down. It needs root. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

const MKFS = '/usr/sbin/mkfs.ext4';
/** etcd keeps five files of 64 MB of its log besides its data. */
const DISK_MB = 1_000;
const MEGABYTE = Buffer.alloc(1024 * 1024);
/** Writes to a slow disk in one second. etcd needs one or two for each flush. */
const SLOW_WRITES = 10;
/** Version 1 of cgroups; its limits hold for what a program flushes itself, which is what databases do. */
const CGROUPS = '/sys/fs/cgroup/blkio';

/** Whether the machine can slow down disks. */
export const canSlowDown = existsSync(join(CGROUPS, 'blkio.throttle.write_iops_device'));

export class Disk {
  readonly path: string;
  readonly #cgroup: string;

  /** `images` is a directory in memory. */
  constructor(path: string, images: string, name: string) {
    this.path = path;
    this.#cgroup = join(CGROUPS, name);
    const image = join(images, name);
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(image, '');
    truncateSync(image, DISK_MB * MEGABYTE.length);
    // Without a journal, which the kernel writes by itself, all writes count as those of the programs.
    execFileSync(MKFS, ['-q', '-m', '0', '-O', '^has_journal', image]);
    execFileSync('mount', ['-o', 'loop', image, path]);
    if (canSlowDown) mkdirSync(this.#cgroup, { recursive: true });
  }

  /** The command that runs another one whose writes slow() slows down. */
  get enter(): readonly string[] {
    const program = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
    return canSlowDown ? ['/bin/sh', '-c', program, this.#cgroup] : [];
  }

  /** Fills the disk until the returned function is called. */
  fill(): () => void {
    const file = join(this.path, 'filler');
    const descriptor = openSync(file, 'w');
    try {
      while (writeSync(descriptor, MEGABYTE) > 0);
    } catch {
      // Nothing is left.
    }
    closeSync(descriptor);
    return () => rmSync(file);
  }

  /** Slows writes down until the returned function is called. */
  slow(): () => void {
    this.#limit(SLOW_WRITES);
    return () => this.#limit(0);
  }

  /** Helpers of a killed program end a moment after it, and use the disk until then. */
  unmount(): void {
    execFileSync('umount', ['--lazy', this.path]);
    try {
      if (canSlowDown) rmdirSync(this.#cgroup);
    } catch {
      // One of them still runs in it.
    }
  }

  /** 0: no limit. */
  #limit(writes: number): void {
    const { dev } = statSync(this.path);
    writeFileSync(join(this.#cgroup, 'blkio.throttle.write_iops_device'), `${dev >> 8}:${dev & 255} ${writes}`);
  }
}
