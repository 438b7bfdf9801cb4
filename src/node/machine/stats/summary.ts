/** The document of `/stats/summary`. */
import { timestamp } from '../../../base/time/timestamp.ts';
import type { ContainerUsage } from '../../runtime/runtime.ts';
import type { DriverVolumeStats, PodUsage } from '../../volumes/volumes.ts';
import type { FileSystemUsage } from '../host.ts';
import type { MachineUsage } from '../observe.ts';
import type { ContainerStats, PodStats } from './running-pods.ts';
import { nanocoresOf, type Samples } from './samples.ts';

export interface SummaryInput {
  readonly nodeName: string;
  /** When the machine started, in milliseconds since the epoch. */
  readonly bootedAt: number;
  readonly samples: Samples;
  readonly pods: readonly PodStats[];
  /** Disk usage of images, in bytes. */
  readonly imageBytes: number;
  /** Returns what a pod has written, except for the layers of its containers; undefined if that is not known. */
  writtenBy(podUid: string): PodUsage | undefined;
  /** Volumes that are no part of this machine's disk. */
  driverVolumesOf?(podUid: string): readonly DriverVolumeStats[];
}

/** Undefined until there is a sample. */
export function summary(input: SummaryInput): object | undefined {
  const { nodeName, bootedAt, samples, pods, imageBytes } = input;
  if (!samples.node) return undefined;
  const { current } = samples.node;
  const { memory, processes, nodeDisk, imageDisk } = current;
  const time = timestamp(current.time);
  return {
    node: {
      nodeName,
      systemContainers: [],
      startTime: timestamp(bootedAt),
      cpu: cpu(current.time, current.cpuNanoseconds, nanocoresOf(samples.node)),
      memory: {
        time,
        availableBytes: memory.totalBytes - memory.workingSetBytes,
        usageBytes: memory.usedBytes,
        workingSetBytes: memory.workingSetBytes,
        rssBytes: memory.rssBytes,
      },
      fs: fileSystem(time, nodeDisk, nodeDisk.capacityBytes - nodeDisk.availableBytes),
      runtime: { imageFs: fileSystem(time, imageDisk, imageBytes) },
      rlimit: { time, maxpid: processes.max, curproc: processes.running },
    },
    pods: pods.map((pod) =>
      podSummary(pod, current, { own: input.writtenBy(pod.uid), ofDrivers: input.driverVolumesOf?.(pod.uid) ?? [] }),
    ),
  };
}

interface PodVolumes {
  readonly own: PodUsage | undefined;
  readonly ofDrivers: readonly DriverVolumeStats[];
}

function podSummary(
  { name, namespace, uid, startedAt, containers, usage, nanocores }: PodStats,
  node: MachineUsage,
  { own, ofDrivers }: PodVolumes,
): object {
  const time = timestamp(node.time);
  const total = (of: (container: ContainerStats) => number) => containers.reduce((sum, each) => sum + of(each), 0);
  const isMeasured = containers.every(({ nanocores }) => nanocores !== undefined);
  const inLayers = total((container) => container.usage.writableBytes ?? 0);
  const volumes = own?.volumes;
  const others = [...(own?.volumes.values() ?? []), ...(own?.containers.values() ?? []), own?.shared ?? 0];
  return {
    podRef: { name, namespace, uid },
    startTime: timestamp(startedAt),
    containers: containers.map((container) => containerSummary(container, node.nodeDisk)),
    cpu: usage
      ? cpu(usage.time, usage.cpuNanoseconds, nanocores)
      : cpu(
          node.time,
          total((container) => container.usage.cpuNanoseconds),
          isMeasured ? total((container) => container.nanocores ?? 0) : undefined,
        ),
    memory: usage ? memoryOf(usage) : { time, workingSetBytes: total((container) => container.usage.workingSet) },
    ...((volumes || ofDrivers.length > 0) && {
      volume: [
        ...[...(volumes ?? [])].map(([volume, bytes]) => ({ ...fileSystem(time, node.nodeDisk, bytes), name: volume })),
        ...ofDrivers.map(({ claim, ...stats }) => ({
          time,
          ...stats,
          ...(claim !== undefined && { pvcRef: { name: claim, namespace } }),
        })),
      ],
    }),
    'ephemeral-storage': fileSystem(
      time,
      node.nodeDisk,
      others.reduce((sum, bytes) => sum + bytes, inLayers),
    ),
  };
}

function containerSummary({ name, startedAt, usage, nanocores }: ContainerStats, disk: FileSystemUsage): object {
  const time = timestamp(usage.time);
  return {
    name,
    startTime: timestamp(startedAt),
    cpu: cpu(usage.time, usage.cpuNanoseconds, nanocores),
    memory: memoryOf(usage),
    ...(usage.writableBytes !== undefined && { rootfs: fileSystem(time, disk, usage.writableBytes) }),
  };
}

function memoryOf({ time, workingSet, rss }: ContainerUsage): object {
  return { time: timestamp(time), workingSetBytes: workingSet, ...(rss !== undefined && { rssBytes: rss }) };
}

function cpu(time: number, nanoseconds: number, nanocores: number | undefined): object {
  return {
    time: timestamp(time),
    ...(nanocores !== undefined && { usageNanoCores: nanocores }),
    usageCoreNanoSeconds: nanoseconds,
  };
}

function fileSystem(time: string, disk: FileSystemUsage, usedBytes: number): object {
  const { availableBytes, capacityBytes, inodes, freeInodes } = disk;
  return {
    time,
    availableBytes,
    capacityBytes,
    usedBytes,
    inodesFree: freeInodes,
    inodes,
    inodesUsed: inodes - freeInodes,
  };
}
