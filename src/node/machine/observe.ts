/** Free and used resources of the machine. */
import type { FileSystemUsage, Host } from './host.ts';

/** Free amount of a resource, and its total. */
export interface Left {
  readonly available: number;
  readonly capacity: number;
}

/** The signals of kubelet's evictions. */
export const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const;

export type Signal = (typeof SIGNALS)[number];

export type Observations = Readonly<Record<Signal, Left>>;

export interface MachineUsage {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Processor time since the start of the machine. */
  readonly cpuNanoseconds: number;
  readonly memory: {
    readonly totalBytes: number;
    readonly usedBytes: number;
    /** Memory that cannot be given away: without file pages that were not used for long. */
    readonly workingSetBytes: number;
    readonly rssBytes: number;
  };
  readonly processes: { readonly running: number; readonly max: number };
  readonly nodeDisk: FileSystemUsage;
  readonly imageDisk: FileSystemUsage;
}

export interface ObservedDirectories {
  /** On the file system that pods write to. */
  readonly node: string;
  /** On that of the images. */
  readonly images: string;
}

/** Ticks of processor time in a second, in /proc/stat of every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const NANOSECONDS_PER_TICK = 1e9 / TICKS_PER_SECOND;
/** user, nice, system, irq, softirq, steal; not idle and iowait. */
const BUSY_COLUMNS = [1, 2, 3, 6, 7, 8];

export async function observeMachine(host: Host, directories: ObservedDirectories, now: number): Promise<MachineUsage> {
  const [memory, stat, load, pidMax, threadsMax, nodeDisk, imageDisk] = await Promise.all([
    host.memory(),
    host.text('proc/stat'),
    host.text('proc/loadavg'),
    host.text('proc/sys/kernel/pid_max'),
    host.text('proc/sys/kernel/threads-max'),
    host.fileSystem(directories.node),
    host.fileSystem(directories.images),
  ]);
  const of = (name: string) => memory.get(name) ?? 0;
  const usedBytes = of('MemTotal') - of('MemFree');
  const columns = stat?.split('\n')[0]?.split(/\s+/).map(Number) ?? [];
  const ticks = BUSY_COLUMNS.reduce((sum, column) => sum + (columns[column] ?? 0), 0);
  return {
    time: now,
    cpuNanoseconds: ticks * NANOSECONDS_PER_TICK,
    memory: {
      totalBytes: of('MemTotal'),
      usedBytes,
      workingSetBytes: Math.max(0, usedBytes - of('Inactive(file)')),
      rssBytes: of('AnonPages'),
    },
    processes: {
      // The fourth field is `running/all`.
      running: Number(/^\S+ \S+ \S+ \d+\/(\d+)/.exec(load ?? '')?.[1] ?? 0),
      max: Math.min(
        ...[pidMax, threadsMax].map((text) => (text === undefined ? Number.MAX_SAFE_INTEGER : Number(text))),
      ),
    },
    nodeDisk,
    imageDisk,
  };
}

export function observationsOf({ memory, processes, nodeDisk, imageDisk }: MachineUsage): Observations {
  const bytes = ({ availableBytes, capacityBytes }: FileSystemUsage) => ({
    available: availableBytes,
    capacity: capacityBytes,
  });
  const inodes = ({ freeInodes, inodes: all }: FileSystemUsage) => ({ available: freeInodes, capacity: all });
  return {
    'memory.available': { available: memory.totalBytes - memory.workingSetBytes, capacity: memory.totalBytes },
    'nodefs.available': bytes(nodeDisk),
    'nodefs.inodesFree': inodes(nodeDisk),
    'imagefs.available': bytes(imageDisk),
    'imagefs.inodesFree': inodes(imageDisk),
    'pid.available': { available: processes.max - processes.running, capacity: processes.max },
  };
}
