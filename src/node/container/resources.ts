/** Requests and limits as values of a cgroup, computed as kubelet does. */
import { parseQuantity, type Quantity, scaled } from '../../base/quantity.ts';
import { containersTogether } from '../../kinds/shapes/pod/pod-resources.ts';
import type { PodSpec } from '../../kinds/shapes/pod/pod-spec.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import { type ContainerResources, NO_RESOURCES } from '../runtime/container-config.ts';

type ResourceList = Readonly<Record<string, string>>;

/** Facts about the machine that resources depend on. */
export interface MachineResources {
  readonly memoryBytes: number;
  readonly cgroupVersion: 1 | 2;
  /** Sizes that the kernel offers, for example `2MB`. */
  readonly hugePageSizes: readonly string[];
}

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const SHARES_PER_CPU = 1024;
const QUOTA_PERIOD_MICROSECONDS = 100_000;
const MIN_QUOTA_MICROSECONDS = 1000;
const MILLI = 3;

type PodLevel = 'cpu' | 'memory';
type Effective = Readonly<Record<PodLevel, Quantity | undefined>>;

/** Processors and memory of a container: its own, with the limits of its pod where it has none. */
export function effectiveResources(
  own: SeenContainer['resources'] | undefined,
  ofPod: SeenContainer['resources'] | undefined,
): { readonly requests: Effective; readonly limits: Effective } {
  const limit = (name: PodLevel) => positive(own?.limits, name) ?? positive(ofPod?.limits, name);
  return {
    requests: { cpu: amount(own?.requests, 'cpu'), memory: amount(own?.requests, 'memory') },
    limits: { cpu: limit('cpu'), memory: limit('memory') },
  };
}

export function containerResources(
  pod: SeenPod,
  container: SeenContainer,
  machine: MachineResources,
): ContainerResources {
  const { requests, limits } = effectiveResources(container.resources, pod.spec.resources);
  return {
    ...cgroupValues(requests.cpu ?? limits.cpu, limits.cpu, limits.memory),
    oomScoreAdj: oomScoreAdjustment(pod, container, machine.memoryBytes),
    hugepages: hugePages({ ...pod.spec.resources?.limits, ...container.resources?.limits }, machine.hugePageSizes),
    // All processes of a container that runs out of memory are killed together.
    unified: machine.cgroupVersion === 2 ? { 'memory.oom.group': '1' } : undefined,
  };
}

/** Sums up what all containers of a pod may use, for runtimes that size a sandbox by it. */
export function sandboxResources({ spec }: SeenPod): ContainerResources {
  const requests = containersTogether(spec as PodSpec, 'requests');
  const limits = containersTogether(spec as PodSpec, 'limits');
  const request = amount(spec.resources?.requests, 'cpu') ?? requests.get('cpu');
  const cpuLimit = amount(spec.resources?.limits, 'cpu') ?? limits.get('cpu');
  const memoryLimit = amount(spec.resources?.limits, 'memory') ?? limits.get('memory');
  return { ...NO_RESOURCES, ...cgroupValues(request ?? cpuLimit, cpuLimit, memoryLimit) };
}

/**
 * The values of a cgroup around all containers of the pod. Its limits are those of the pod as a whole or, where every
 * container has one, what they may use together, as with kubelet. `pidsLimit` is the node's for every pod.
 */
export function podCgroupResources({ spec }: SeenPod, pidsLimit: number | undefined): ContainerResources {
  const { requests } = spec.resources ?? {};
  const cpuLimit = podLimit(spec, 'cpu');
  const request = amount(requests, 'cpu') ?? containersTogether(spec as PodSpec, 'requests').get('cpu');
  return { ...NO_RESOURCES, ...cgroupValues(request ?? cpuLimit, cpuLimit, podLimit(spec, 'memory')), pidsLimit };
}

/** The limit of the pod itself, or that of its containers together where each of them has one, as with kubelet. */
function podLimit(spec: SeenPod['spec'], name: 'cpu' | 'memory'): Quantity | undefined {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const areAllLimited = containers.every(({ resources }) => positive(resources?.limits, name));
  const own = positive(spec.resources?.limits, name);
  return own ?? (areAllLimited ? containersTogether(spec as PodSpec, 'limits').get(name) : undefined);
}

/** The overhead of the pod's RuntimeClass, which the API has copied to the pod; undefined: none. */
export function overheadResources({ spec: { overhead } }: SeenPod): ContainerResources | undefined {
  if (!overhead) return undefined;
  const cpu = amount(overhead, 'cpu');
  return { ...NO_RESOURCES, ...cgroupValues(cpu, cpu, amount(overhead, 'memory')) };
}

function cgroupValues(cpuRequest: Quantity | undefined, cpuLimit: Quantity | undefined, memory: Quantity | undefined) {
  const bytes = memory ? Number(scaled(memory, 0)) : 0;
  const quota = cpuLimit ? cpuQuota(milli(cpuLimit)) : undefined;
  return {
    cpuShares: cpuShares(cpuRequest ? milli(cpuRequest) : 0),
    cpuQuota: quota,
    cpuPeriod: quota === undefined ? undefined : QUOTA_PERIOD_MICROSECONDS,
    memoryBytes: bytes > 0 ? bytes : undefined,
    cpusetCpus: undefined,
  };
}

function cpuShares(milliCpu: number): number {
  const shares = Math.floor((milliCpu * SHARES_PER_CPU) / 1000);
  return Math.min(Math.max(shares, MIN_SHARES), MAX_SHARES);
}

function cpuQuota(milliCpu: number): number | undefined {
  if (milliCpu === 0) return undefined;
  return Math.max(Math.floor((milliCpu * QUOTA_PERIOD_MICROSECONDS) / 1000), MIN_QUOTA_MICROSECONDS);
}

/** Every size that the kernel has is limited, to nothing where the container has no limit. */
function hugePages(limits: ResourceList, sizes: readonly string[]) {
  const bytesBySize = new Map(sizes.map((size) => [size, 0]));
  for (const [name, limit] of Object.entries(limits)) {
    if (!name.startsWith('hugepages-')) continue;
    const pageBytes = Number(scaled(parseQuantity(name.slice('hugepages-'.length)), 0));
    bytesBySize.set(pageSizeName(pageBytes), Number(scaled(parseQuantity(limit), 0)));
  }
  return [...bytesBySize].map(([pageSize, bytes]) => ({ pageSize, bytes }));
}

/** Cgroups write `2MB` for 2 MiB. */
function pageSizeName(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let left = bytes;
  let unit = 0;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit++;
  }
  return `${left}${units[unit]}`;
}

const milli = (quantity: Quantity): number => Number(scaled(quantity, MILLI));

function amount(list: ResourceList | undefined, name: string): Quantity | undefined {
  return list && Object.hasOwn(list, name) ? parseQuantity(list[name]!) : undefined;
}

function positive(list: ResourceList | undefined, name: string): Quantity | undefined {
  const found = amount(list, name);
  return found && found.mantissa > 0n ? found : undefined;
}

const GUARANTEED = -997;
const BEST_EFFORT = 1000;
const MIN_BURSTABLE = 1000 + GUARANTEED;
const NODE_CRITICAL_PRIORITY = 2_000_001_000;

/** A burstable container that requests a tenth of the memory gets 900: more than its request makes it the first to go. */
export function oomScoreAdjustment(pod: SeenPod, container: SeenContainer, memoryBytes: number): number {
  if ((pod.spec.priority ?? 0) >= NODE_CRITICAL_PRIORITY) return GUARANTEED;
  const quality = pod.status?.qosClass ?? qosClass(pod.spec as PodSpec);
  if (quality === 'Guaranteed') return GUARANTEED;
  if (quality === 'BestEffort') return BEST_EFFORT;
  const share = unrequestedShare(pod);
  const scoreOf = (request: number) => 1000 - Math.trunc((1000 * (request + share)) / memoryBytes);
  let score = scoreOf(memoryRequest(container));
  if (isSidecar(pod, container)) {
    score = Math.min(score, scoreOf(Math.min(...pod.spec.containers.map(memoryRequest))));
  }
  return Math.min(Math.max(score, MIN_BURSTABLE), BEST_EFFORT - 1);
}

/** Computes the share of each container in what the pod requests beyond its containers. */
function unrequestedShare({ spec }: SeenPod): number {
  const requested = spec.resources?.requests?.memory;
  if (requested === undefined) return 0;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const sharing = [...spec.containers, ...sidecars];
  const rest = bytesOf(requested) - sharing.reduce((sum, each) => sum + memoryRequest(each), 0);
  return rest > 0 ? Math.trunc(rest / sharing.length) : 0;
}

const memoryRequest = ({ resources }: Pick<SeenContainer, 'resources'>): number =>
  bytesOf(resources?.requests?.memory ?? '0');

const bytesOf = (text: string): number => Number(scaled(parseQuantity(text), 0));

const isSidecar = ({ spec }: SeenPod, { name }: SeenContainer): boolean =>
  (spec.initContainers ?? []).some((each) => each.name === name && each.restartPolicy === 'Always');
