/** The running containers of a node by pod, with their samples. */
import type { Container, ContainerUsage, Sandbox } from '../../runtime/runtime.ts';
import { nanocoresOf, type Samples } from './samples.ts';

export interface ContainerStats {
  readonly name: string;
  readonly startedAt: number;
  readonly usage: ContainerUsage;
  readonly nanocores: number | undefined;
}

export interface PodStats {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** When its sandbox was made. */
  readonly startedAt: number;
  readonly containers: readonly ContainerStats[];
  /** Usage of all containers together, where the pod has a cgroup. */
  readonly usage: ContainerUsage | undefined;
  readonly nanocores: number | undefined;
}

/** Pods with a running container that has a sample, ordered by namespace and name. */
export function runningPods(
  sandboxes: readonly Sandbox[],
  containers: readonly Container[],
  samples: Samples,
): readonly PodStats[] {
  const bySandbox = new Map<string, ContainerStats[]>();
  for (const { id, sandboxId, name, state, startedAt = 0 } of containers) {
    const pair = samples.containers.get(id);
    if (state !== 'running' || !pair) continue;
    const stats = { name, startedAt, usage: pair.current, nanocores: nanocoresOf(pair) };
    bySandbox.set(sandboxId, [...(bySandbox.get(sandboxId) ?? []), stats]);
  }
  return sandboxes
    .flatMap(({ id, pod, createdAt }): PodStats[] => {
      const own = bySandbox.get(id);
      if (!own) return [];
      const pair = samples.containers.get(id);
      const total = { usage: pair?.current, nanocores: pair && nanocoresOf(pair) };
      return [{ ...pod, startedAt: createdAt, containers: own, ...total }];
    })
    .sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
