/** From the old ReplicaSets to the new one in steps, each of which leaves enough pods available. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { stepsOf } from './steps.ts';
import { byAge, sum, type WorkingSet } from './working-set.ts';

/** Resizes the sets as far as they may go now. Whether any old or new one was resized. */
export function rollOn(deployment: DeepReadonly<Deployment>, fresh: WorkingSet, old: readonly WorkingSet[]): boolean {
  return growNew(deployment, fresh, old) || shrinkOld(deployment, fresh, old);
}

/** How large the new set may be: all pods together stay within the surge. */
export function roomForNew(
  deployment: DeepReadonly<Deployment>,
  fresh: WorkingSet | undefined,
  old: readonly WorkingSet[],
): number {
  const { replicas } = deployment.spec;
  const size = fresh?.replicas ?? 0;
  if (deployment.spec.strategy.type === 'Recreate') return replicas;
  const room = replicas + stepsOf(deployment).maxSurge - size - sum(old, (set) => set.replicas);
  return room <= 0 ? size : size + Math.min(room, replicas - size);
}

function growNew(deployment: DeepReadonly<Deployment>, fresh: WorkingSet, old: readonly WorkingSet[]): boolean {
  const { replicas } = deployment.spec;
  const size = fresh.replicas > replicas ? replicas : roomForNew(deployment, fresh, old);
  return fresh.scaleTo(size, deployment);
}

function shrinkOld(deployment: DeepReadonly<Deployment>, fresh: WorkingSet, old: readonly WorkingSet[]): boolean {
  const active = old.filter((set) => set.isActive).sort(byAge);
  const enough = deployment.spec.replicas - stepsOf(deployment).maxUnavailable;
  const all = [fresh, ...active];
  // What is new and not yet available must not be missed on top of what goes.
  const most = sum(all, (set) => set.replicas) - enough - (fresh.replicas - fresh.available);
  if (active.length === 0 || most <= 0) return false;
  // Pods that serve nobody go first, whichever set they are in.
  const ailing = take(deployment, active, { most, of: (set) => set.dispensable });
  const surplus = Math.min(sum(all, (set) => set.available) - enough, most - ailing);
  const healthy = take(deployment, active, { most: surplus, of: (set) => set.replicas });
  return ailing + healthy > 0;
}

/** Takes up to `most` pods in all, and `of` each set, the oldest first. How many it took. */
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
