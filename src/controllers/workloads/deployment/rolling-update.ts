/** Moves pods from old ReplicaSets to the new one in steps that keep enough of them available. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { updateLimitsOf } from './update-limits.ts';
import { byAge, sum, type WorkingSet } from './working-set.ts';

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
