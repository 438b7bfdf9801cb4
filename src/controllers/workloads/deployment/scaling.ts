/** Scales a Deployment: its ReplicaSets grow or shrink, proportionally when there are several. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { desiredReplicas, maxReplicas } from './annotations.ts';
import { byAge, sum, updateLimitsOf, type WorkingSet } from './working-set.ts';

/** Reports whether a set was sized for another number of replicas. */
export function isScaled({ spec }: DeepReadonly<Deployment>, sets: readonly WorkingSet[]): boolean {
  return sets
    .filter(({ isActive }) => isActive)
    .some(({ set }) => (desiredReplicas(set) ?? spec.replicas) !== spec.replicas);
}

export function scale(
  deployment: DeepReadonly<Deployment>,
  currentSet: WorkingSet | undefined,
  old: readonly WorkingSet[],
): void {
  const { replicas, strategy } = deployment.spec;
  const all = currentSet ? [...old, currentSet] : old;
  const active = all.filter(({ isActive }) => isActive);
  const only = onlyOne(currentSet, old);
  if (only) {
    only.scaleTo(replicas, deployment);
  } else if (currentSet && isSaturated(deployment, currentSet)) {
    for (const set of old) set.scaleTo(0, deployment);
  } else if (strategy.type === 'RollingUpdate') {
    share(deployment, active);
  }
  // Also where the size is right: otherwise the set would count as sized for another number forever.
  for (const set of active) set.noteSizes(deployment);
}

/** The one that has pods; if none has, the newest. */
function onlyOne(currentSet: WorkingSet | undefined, old: readonly WorkingSet[]): WorkingSet | undefined {
  const active = [...old, ...(currentSet ? [currentSet] : [])].filter(({ isActive }) => isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? currentSet ?? [...old].sort(byAge).at(-1);
}

function isSaturated({ spec }: DeepReadonly<Deployment>, currentSet: WorkingSet): boolean {
  const { replicas } = spec;
  return (
    currentSet.replicas === replicas &&
    desiredReplicas(currentSet.set) === replicas &&
    currentSet.available === replicas
  );
}

/** During a rollout the sets keep their proportions, so that the share of the new template stays the same. */
function share(deployment: DeepReadonly<Deployment>, sets: readonly WorkingSet[]): void {
  const { replicas } = deployment.spec;
  const allowed = replicas > 0 ? replicas + updateLimitsOf(deployment).maxSurge : 0;
  const toAdd = allowed - sum(sets, (set) => set.replicas);
  // The largest set gets the rest of rounding; of equal ones the newer grows and the older shrinks.
  const ordered = [...sets].sort((a, b) => b.replicas - a.replicas || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
  let added = 0;
  const sizes = ordered.map((set) => {
    const part = within(toAdd - added, fraction(deployment, set));
    added += part;
    return set.replicas + part;
  });
  for (const [index, set] of ordered.entries()) {
    const leftover = index === 0 ? toAdd - added : 0;
    set.scaleTo(Math.max(0, (sizes[index] as number) + leftover), deployment);
  }
}

/** Limited in the direction of the change. */
const within = (limit: number, part: number) => {
  if (limit === 0) return 0;
  return limit > 0 ? Math.min(part, limit) : Math.max(part, limit);
};

function fraction(deployment: DeepReadonly<Deployment>, { set, replicas }: WorkingSet): number {
  const { spec, status } = deployment;
  if (spec.replicas === 0) return -replicas;
  const before = maxReplicas(set) || (status.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((replicas * (spec.replicas + updateLimitsOf(deployment).maxSurge)) / before) - replicas;
}

/** Scales the sets as far as allowed now; returns whether any was scaled. */
export function rollUpdate(
  deployment: DeepReadonly<Deployment>,
  currentSet: WorkingSet,
  old: readonly WorkingSet[],
): boolean {
  return growNew(deployment, currentSet, old) || shrinkOld(deployment, currentSet, old);
}

/** Returns the maximum size of the new set: all pods together stay within the surge. */
export function roomForNew(
  deployment: DeepReadonly<Deployment>,
  currentSet: WorkingSet | undefined,
  old: readonly WorkingSet[],
): number {
  const { replicas } = deployment.spec;
  const size = currentSet?.replicas ?? 0;
  if (deployment.spec.strategy.type === 'Recreate') return replicas;
  const room = replicas + updateLimitsOf(deployment).maxSurge - size - sum(old, (set) => set.replicas);
  return room <= 0 ? size : size + Math.min(room, replicas - size);
}

function growNew(deployment: DeepReadonly<Deployment>, currentSet: WorkingSet, old: readonly WorkingSet[]): boolean {
  const { replicas } = deployment.spec;
  const size = currentSet.replicas > replicas ? replicas : roomForNew(deployment, currentSet, old);
  return currentSet.scaleTo(size, deployment);
}

function shrinkOld(deployment: DeepReadonly<Deployment>, currentSet: WorkingSet, old: readonly WorkingSet[]): boolean {
  const active = old.filter((set) => set.isActive).sort(byAge);
  const enough = deployment.spec.replicas - updateLimitsOf(deployment).maxUnavailable;
  const all = [currentSet, ...active];
  // New pods that are not available yet must not be missing on top of removed ones.
  const most = sum(all, (set) => set.replicas) - enough - (currentSet.replicas - currentSet.available);
  if (active.length === 0 || most <= 0) return false;
  // Unhealthy pods are removed first, whichever set they are in.
  const unhealthy = take(deployment, active, { most, of: (set) => set.removable });
  const surplus = Math.min(sum(all, (set) => set.available) - enough, most - unhealthy);
  const healthy = take(deployment, active, { most: surplus, of: (set) => set.replicas });
  return unhealthy + healthy > 0;
}

/** Removes up to `most` pods in total, and `of` each set, the oldest first; returns how many. */
function take(
  deployment: DeepReadonly<Deployment>,
  sets: readonly WorkingSet[],
  { most, of }: { readonly most: number; readonly of: (set: WorkingSet) => number },
): number {
  let taken = 0;
  for (const set of sets) {
    const count = Math.max(0, Math.min(of(set), most - taken));
    set.scaleTo(set.replicas - count, deployment);
    taken += count;
  }
  return taken;
}
