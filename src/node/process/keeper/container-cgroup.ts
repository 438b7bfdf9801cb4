/**
 * The cgroups of a container: one that carries its limits, and one inside it with the same limits, in which its processes are. From inside,
 * they see their limits and can reach no cgroup whose limits hold.
 */
import { join } from 'node:path';
import type { Cgroups, CgroupUsage } from '../../cgroups/cgroups.ts';
import { type ContainerResources, NO_RESOURCES } from '../../runtime/container-config.ts';

const INNER = 'inner';
const UNLIMITED = -1;

export class ContainerCgroup {
  readonly #outer: string;

  constructor(
    private readonly cgroups: Cgroups,
    path: string,
  ) {
    this.#outer = path;
  }

  /** Where its processes are. */
  static innerOf(path: string): string {
    return join(path, INNER);
  }

  get #inner(): string {
    return ContainerCgroup.innerOf(this.#outer);
  }

  create(resources: ContainerResources): void {
    for (const path of [this.#outer, this.#inner]) this.cgroups.create(path, resources);
  }

  /** Version 1 allows no more inside than outside: what grows, grows outside first, and what shrinks, inside. */
  update(resources: ContainerResources): void {
    for (const part of parts(resources)) {
      try {
        this.cgroups.update(this.#outer, part);
        this.cgroups.update(this.#inner, part);
      } catch {
        this.cgroups.update(this.#inner, part);
        this.cgroups.update(this.#outer, part);
      }
    }
  }

  usage(): CgroupUsage | undefined {
    const usage = this.cgroups.usage(this.#outer);
    if (!usage) return undefined;
    // Either of them holds its processes up.
    const throttling = this.cgroups.usage(this.#inner)?.throttling ?? usage.throttling;
    return { ...usage, throttling };
  }

  /** Version 1 counts where the process was. */
  oomKills(): number {
    return Math.max(this.cgroups.oomKills(this.#outer), this.cgroups.oomKills(this.#inner));
  }

  kill(): void {
    this.cgroups.kill(this.#inner);
    this.cgroups.kill(this.#outer);
  }

  /**
   * Lifts the limit of processor time of a container that has ended. Version 1 counts it against the pod, which could not be made
   * smaller, until a moment after the cgroup was removed.
   */
  release(): void {
    try {
      this.update({ ...NO_RESOURCES, cpuQuota: UNLIMITED });
    } catch {
      // It was removed, or the machine has no such limits.
    }
  }

  remove(): void {
    this.cgroups.remove(this.#outer);
  }
}

/** Limits that change together. */
function parts(resources: ContainerResources): ContainerResources[] {
  const { memoryBytes, cpuShares, cpuQuota, cpuPeriod, ...others } = resources;
  return [
    { ...NO_RESOURCES, memoryBytes },
    { ...NO_RESOURCES, cpuShares },
    { ...NO_RESOURCES, cpuQuota, cpuPeriod },
    { ...NO_RESOURCES, ...others },
  ];
}
