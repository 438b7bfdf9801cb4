/** Which dead containers are removed: of pods that are gone all, of others all but the newest of each name. */
import type { Container, Sandbox } from '../../runtime/runtime.ts';

export interface ContainerGarbageSettings {
  /** How many dead containers of each name a pod keeps, for its logs. */
  readonly maxPerContainer: number;
  /** Of all pods together; negative: no limit. */
  readonly maxContainers: number;
  readonly minAgeMs: number;
}

/** Those of kubelet. */
export const DEFAULT_CONTAINER_GARBAGE: ContainerGarbageSettings = {
  maxPerContainer: 1,
  maxContainers: -1,
  minAgeMs: 0,
};

export interface ContainerGarbageState {
  readonly sandboxes: readonly Sandbox[];
  readonly containers: readonly Container[];
  /** Whether the pod is gone, with everything that it left. */
  isGone(podUid: string): boolean;
}

export interface ContainerGarbage {
  /** Ids. */
  readonly containers: readonly string[];
  readonly sandboxes: readonly string[];
}

export function planContainerGarbage(
  { sandboxes, containers, isGone }: ContainerGarbageState,
  settings: ContainerGarbageSettings,
  now: number,
): ContainerGarbage {
  const podOf = new Map(sandboxes.map(({ id, pod }) => [id, pod.uid]));
  const dead = containers
    .filter(({ state, createdAt }) => state !== 'running' && now - createdAt >= settings.minAgeMs)
    .sort((a, b) => b.createdAt - a.createdAt);
  const remove = new Set<string>();
  const kept: Container[] = [];
  const counts = new Map<string, number>();
  for (const container of dead) {
    const uid = podOf.get(container.sandboxId);
    const key = `${uid} ${container.name}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (uid === undefined || isGone(uid) || count > settings.maxPerContainer) remove.add(container.id);
    else kept.push(container);
  }
  if (settings.maxContainers >= 0) for (const { id } of kept.slice(settings.maxContainers)) remove.add(id);
  const busy = new Set(containers.filter(({ id }) => !remove.has(id)).map(({ sandboxId }) => sandboxId));
  return { containers: [...remove], sandboxes: deadSandboxes(sandboxes, busy, isGone) };
}

/** Those without containers that are not ready; the newest of a pod stays, because it says how the pod ended. */
function deadSandboxes(
  sandboxes: readonly Sandbox[],
  busy: ReadonlySet<string>,
  isGone: (uid: string) => boolean,
): string[] {
  const newest = new Map<string, Sandbox>();
  for (const sandbox of sandboxes) {
    const other = newest.get(sandbox.pod.uid);
    if (!other || other.createdAt < sandbox.createdAt) newest.set(sandbox.pod.uid, sandbox);
  }
  return sandboxes
    .filter(({ id, isReady, pod }) => {
      if (isReady || busy.has(id)) return false;
      return isGone(pod.uid) || newest.get(pod.uid)?.id !== id;
    })
    .map(({ id }) => id);
}
