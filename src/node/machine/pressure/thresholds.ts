/** How little may be left before a node evicts pods. */
import type { Left, Observations, Signal } from '../observe.ts';

export interface Threshold {
  readonly signal: Signal;
  /** A number of bytes, inodes or processes, or a fraction of the capacity. */
  readonly least: number | { readonly fraction: number };
}

/** Defaults of kubelet. A file system without inodes of its own says it has none; that is no shortage. */
export const DEFAULT_THRESHOLDS: readonly Threshold[] = [
  { signal: 'memory.available', least: 100 * 1024 * 1024 },
  { signal: 'nodefs.available', least: { fraction: 0.1 } },
  { signal: 'nodefs.inodesFree', least: { fraction: 0.05 } },
  { signal: 'imagefs.available', least: { fraction: 0.15 } },
  { signal: 'imagefs.inodesFree', least: { fraction: 0.05 } },
];

export type PressureType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

export const CONDITION_OF: Readonly<Record<Signal, PressureType>> = {
  'memory.available': 'MemoryPressure',
  'nodefs.available': 'DiskPressure',
  'nodefs.inodesFree': 'DiskPressure',
  'imagefs.available': 'DiskPressure',
  'imagefs.inodesFree': 'DiskPressure',
  'pid.available': 'PIDPressure',
};

/** The resource that an eviction wins back, as messages name it. */
export const RESOURCE_OF: Readonly<Record<Signal, string>> = {
  'memory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'pid.available': 'pids',
};

export function leastOf({ least }: Threshold, { capacity }: Left): number {
  return typeof least === 'number' ? least : Math.floor(capacity * least.fraction);
}

/** Thresholds that are crossed: memory first. */
export function crossed(thresholds: readonly Threshold[], observed: Observations): readonly Threshold[] {
  return thresholds
    .filter((threshold) => {
      const left = observed[threshold.signal];
      return left.capacity > 0 && left.available < leastOf(threshold, left);
    })
    .sort((a, b) => Number(b.signal === 'memory.available') - Number(a.signal === 'memory.available'));
}
