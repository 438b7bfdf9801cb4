/** A directory that lives as long as its pod: on disk, or in memory. */
import { TRAVERSED_DIRECTORY } from '../../../base/files/own/modes.ts';
import { chmod, chown, makeDirectory } from '../../../base/files/own/own-files.ts';
import { parseQuantity, scaled } from '../../../base/quantity.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { rootOf } from '../host/host-ids.ts';
import { applyFsGroup } from '../host/ownership.ts';
import { type PreparedVolume, VolumeError } from '../volumes.ts';
import type { VolumeSetup } from './setup.ts';

const ALL_RIGHTS = 0o777;
/** Sticky bit of every tmpfs, as with kubelet: programs may check it. */
const STICKY = 0o1000;

/**
 * Prepares a directory. Nothing of the pod runs when it is made; after that, the directory itself is not changed any
 * more.
 */
export async function prepareEmptyDir({ pod, uid, volume, host, ids }: VolumeSetup): Promise<PreparedVolume> {
  const path = host.layout.volume(uid, 'empty-dir', volume.name);
  const { medium = '', sizeLimit } = volume.emptyDir ?? {};
  const isNew = await makeDirectory(path, TRAVERSED_DIRECTORY);
  const isMemory = medium === 'Memory';
  const isMounted = medium !== '' && (await host.mounter.entries()).some(({ mountPoint }) => mountPoint === path);
  if (medium !== '' && !isMounted) {
    if (!isMemory && !/^HugePages(-.+)?$/.test(medium)) throw new VolumeError(`unknown storage medium "${medium}"`);
    const options = isMemory
      ? tmpfsOptions({ pod, sizeLimit, allocatable: host.allocatable() })
      : [`pagesize=${pageSize(pod, medium)}`];
    const [type, source] = isMemory ? ['tmpfs', 'tmpfs'] : ['hugetlbfs', 'nodev'];
    await host.mounter.mount({ type, source, target: path, options });
  }
  if (isNew || (medium !== '' && !isMounted)) {
    if (ids) await chown(path, rootOf(ids).uid, rootOf(ids).gid);
    await chmod(path, isMemory ? STICKY | ALL_RIGHTS : ALL_RIGHTS);
    await applyFsGroup(path, pod, { readOnly: false, honorsPolicy: false, ids });
  }
  return { type: 'directory', path, readOnly: false, selinuxRelabel: true };
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

interface MemoryOptions {
  readonly pod: SeenPod;
  /** Limit of the volume itself; undefined: only those of the pod and of the node apply. */
  readonly sizeLimit: string | undefined;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Limits a tmpfs to its own size, that of the pod's containers together, or that of the node, whichever is least. */
function tmpfsOptions({ pod: { spec }, sizeLimit, allocatable }: MemoryOptions): string[] {
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

const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));
