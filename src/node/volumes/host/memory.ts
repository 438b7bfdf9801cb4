/** Directories in memory. */
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Mounter } from './mounter.ts';

export interface MemoryOptions {
  readonly pod: SeenPod;
  /** Its own limit; undefined: only those of the pod and of the node. */
  readonly sizeLimit: string | undefined;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Limits a tmpfs to its own size, that of the pod's containers together, or what the node has, whichever is least. */
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

/**
 * Mounts a tmpfs for files that must never be on a disk. Swap is one, too: kernels since 6.4 can leave it out, and older ones
 * refuse the option.
 */
export async function mountSecretMemory(mounter: Mounter, target: string, options: readonly string[]): Promise<void> {
  const spec = { type: 'tmpfs', source: 'tmpfs', target };
  const common = ['nosuid', 'nodev', 'mode=0711', ...options];
  try {
    await mounter.mount({ ...spec, options: [...common, 'noswap'] });
  } catch {
    await mounter.mount({ ...spec, options: common });
  }
}

export const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));
