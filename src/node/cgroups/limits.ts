/** Texts for the files of a cgroup that limit the resources of a container. */
import type { ContainerResources } from '../runtime/container-config.ts';

/** A file, by controller for version 1, and its new content. */
export type Limit = readonly [controller: string, file: string, value: string];

export function limitsOf(resources: ContainerResources, version: 1 | 2): Limit[] {
  return version === 1 ? limitsOfVersion1(resources) : limitsOfVersion2(resources);
}

function limitsOfVersion1(resources: ContainerResources): Limit[] {
  const limits: Limit[] = [];
  const add = (controller: string, file: string, value: number | string | undefined) => {
    if (value !== undefined && value !== 0 && value !== '') limits.push([controller, file, String(value)]);
  };
  add('memory', 'memory.limit_in_bytes', resources.memoryBytes);
  add('cpu', 'cpu.shares', resources.cpuShares);
  add('cpu', 'cpu.cfs_period_us', resources.cpuPeriod);
  add('cpu', 'cpu.cfs_quota_us', resources.cpuQuota);
  add('pids', 'pids.max', resources.pidsLimit);
  for (const { pageSize, bytes } of resources.hugepages)
    limits.push(['hugetlb', `hugetlb.${pageSize}.limit_in_bytes`, String(bytes)]);
  return limits;
}

const DEFAULT_PERIOD_MICROSECONDS = 100_000;

function limitsOfVersion2(resources: ContainerResources): Limit[] {
  const { cpuShares, cpuQuota, cpuPeriod, memoryBytes, cpusetCpus, pidsLimit } = resources;
  return [
    ...(memoryBytes ? [['memory', 'memory.max', String(memoryBytes)] as const] : []),
    ...(cpuShares ? [['cpu', 'cpu.weight', String(weightOf(cpuShares))] as const] : []),
    ...(cpuQuota === undefined || cpuQuota === 0
      ? []
      : [
          ['cpu', 'cpu.max', `${cpuQuota < 0 ? 'max' : cpuQuota} ${cpuPeriod || DEFAULT_PERIOD_MICROSECONDS}`] as const,
        ]),
    ...(cpusetCpus ? [['cpuset', 'cpuset.cpus', cpusetCpus] as const] : []),
    ...(pidsLimit ? [['pids', 'pids.max', String(pidsLimit)] as const] : []),
    ...resources.hugepages.map(({ pageSize, bytes }) => ['hugetlb', `hugetlb.${pageSize}.max`, String(bytes)] as const),
    ...Object.entries(resources.unified ?? {}).map(([file, value]) => [file.split('.')[0]!, file, value] as const),
  ];
}

/** From shares (2 to 262144) to a weight (1 to 10000). */
function weightOf(shares: number): number {
  const bounded = Math.min(Math.max(shares, 2), 262_144);
  return 1 + Math.floor(((bounded - 2) * 9_999) / 262_142);
}
