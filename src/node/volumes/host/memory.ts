/** Directories in memory. */
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import type { SeenPod } from '../../pod/container-run.ts';

export interface MemoryOptions {
  readonly pod: SeenPod;
  /** Limit of the volume itself; undefined: only those of the pod and of the node apply. */
  readonly sizeLimit: string | undefined;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Limits a tmpfs to its own size, that of the pod's containers together, or that of the node, whichever is least. */
export function tmpfsOptions({ pod: { spec }, sizeLimit, allocatable }: MemoryOptions): string[] {
  const limits = [...spec.containers, ...(spec.initContainers ?? [])].map(({ resources }) => resources?.limits?.memory);
  const ofContainers = limits.every((limit) => limit !== undefined)
    ? limits.reduce((sum, limit) => sum + bytesOf(limit), 0)
    : 0;
  const sizes = [
    sizeLimit === undefined ? 0 : bytesOf(sizeLimit),
    spec.resources?.limits?.memory === undefined ? ofContainers : bytesOf(spec.resources.limits.memory),
    allocatable.memory === undefined ? 0 : bytesOf(allocatable.memory),
  ].filter((bytes) => bytes > 0);
  return sizes.length ? [`size=${Math.min(...sizes)}`] : [];
}

export const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));
