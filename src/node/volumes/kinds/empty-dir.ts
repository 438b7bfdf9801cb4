/** A directory that lives as long as its pod: on disk, or in memory. */
import { chmod, mkdir } from 'node:fs/promises';
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { applyFsGroup } from '../host/ownership.ts';
import { type PreparedVolume, VolumeError } from '../volumes.ts';
import type { VolumeSetup } from './setup.ts';

export async function prepareEmptyDir({ pod, uid, volume, host }: VolumeSetup): Promise<PreparedVolume> {
  const path = host.layout.volume(uid, 'empty-dir', volume.name);
  const { medium = '', sizeLimit } = volume.emptyDir ?? {};
  const isNew = (await mkdir(path, { recursive: true })) !== undefined;
  if (isNew) await chmod(path, 0o777);
  const isMemory = medium === 'Memory';
  const isMounted = medium !== '' && (await host.mounter.entries()).some(({ mountPoint }) => mountPoint === path);
  if (medium !== '' && !isMounted) {
    if (!isMemory && !/^HugePages(-.+)?$/.test(medium)) throw new VolumeError(`unknown storage medium "${medium}"`);
    const options = isMemory ? tmpfsOptions(pod, sizeLimit, host.allocatable()) : [`pagesize=${pageSize(pod, medium)}`];
    const [type, source] = isMemory ? ['tmpfs', 'tmpfs'] : ['hugetlbfs', 'nodev'];
    await host.mounter.mount({ type, source, target: path, options });
  }
  if (isNew || (medium !== '' && !isMounted)) {
    await applyFsGroup(path, pod, { readOnly: false, honorsPolicy: false });
  }
  return { type: 'directory', path, readOnly: false, selinuxRelabel: true };
}

/** Its own limit, that of the pod's containers together, or what the node has, whichever is least. */
function tmpfsOptions({ spec }: SeenPod, sizeLimit: string | undefined, allocatable: Readonly<Record<string, string>>) {
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

/** `HugePages` alone means the one size that the pod requests. */
function pageSize({ spec }: SeenPod, medium: string): string {
  const named = medium.slice('HugePages-'.length);
  const requested = new Set(
    [...spec.containers, ...(spec.initContainers ?? [])]
      .flatMap(({ resources }) => Object.keys({ ...resources?.requests, ...resources?.limits }))
      .filter((name) => name.startsWith('hugepages-'))
      .map((name) => name.slice('hugepages-'.length)),
  );
  const [first] = requested;
  if (named) {
    if (requested.has(named)) return mountSize(named);
    throw new VolumeError(`medium HugePages-${named} without a request for hugepages-${named}`);
  }
  if (first !== undefined && requested.size === 1) return mountSize(first);
  throw new VolumeError(
    requested.size
      ? 'medium HugePages can be used only if pod requests one page size'
      : 'hugePages storage requested, but there is no resource request for huge pages',
  );
}

const mountSize = (size: string): string => String(bytesOf(size));

const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));
