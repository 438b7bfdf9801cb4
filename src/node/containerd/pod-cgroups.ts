/**
 * The cgroups around the containers of pods, by quality of service as kubelet has them: Guaranteed pods beside the groups of
 * the other two classes. The runtime makes those of containers in them.
 */
import type { Cgroups, CgroupUsage } from '../cgroups/cgroups.ts';
import { networkOf } from '../cgroups/network-usage.ts';
import { podCgroupName } from '../cgroups/pod-cgroup-name.ts';
import type { ContainerResources } from '../runtime/container-config.ts';
import type { SandboxConfig } from '../runtime/sandbox-config.ts';
import type { InterfaceUsage } from '../runtime/usage.ts';

/** The cgroup of everything that a node runs. `name` is the node's. */
export const nodeCgroup = (name: string) => `/quarterdeck-${name}`;

const FOLDERS = { Guaranteed: '', Burstable: '/burstable', BestEffort: '/besteffort' } as const;

export class PodCgroups {
  readonly #root: string;
  /** Cgroups that could not be removed yet: the kernel may take a moment after the last process has ended. */
  readonly #left = new Set<string>();

  constructor(
    private readonly cgroups: Cgroups,
    name: string,
  ) {
    this.#root = nodeCgroup(name);
  }

  /** Returns the path of a sandbox's cgroup. */
  pathOf(config: SandboxConfig): string {
    return `${this.#root}${FOLDERS[config.qosClass]}/${podCgroupName(config)}`;
  }

  create(config: SandboxConfig): void {
    const path = this.pathOf(config);
    this.#left.delete(path);
    this.cgroups.create(path, config.cgroupResources);
    this.#balance(path);
  }

  /** The runtime will soon move a process to a cgroup. */
  anticipateMoves(): void {
    this.cgroups.anticipateMoves();
  }

  update(path: string, resources: ContainerResources): void {
    this.cgroups.update(path, resources);
    this.#balance(path);
  }

  usage(path: string): CgroupUsage | undefined {
    return this.cgroups.usage(path);
  }

  /** Returns the usage of a container or sandbox in the cgroup of a pod: the runtime names its cgroup by its id. */
  usageIn(path: string, id: string): CgroupUsage | undefined {
    return this.cgroups.usage(`${path}/${id}`);
  }

  /** Returns the traffic of a sandbox; undefined if it has no network of its own. */
  network(path: string, sandboxId: string): InterfaceUsage[] | undefined {
    const pid = this.cgroups.process(`${path}/${sandboxId}`);
    return pid === undefined ? undefined : networkOf(pid);
  }

  remove(path: string): void {
    this.#left.add(path);
    for (const each of this.#left) if (this.cgroups.remove(each)) this.#left.delete(each);
    this.#balance(path);
  }

  /** The pods of a class have as much of the processors as their requests together. */
  #balance(path: string): void {
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (folder !== this.#root) this.cgroups.sumShares(folder);
  }
}
