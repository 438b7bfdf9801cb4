/** A Deployment of another size: its ReplicaSets grow or shrink, each by its share when there are several. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { desiredReplicas, maxReplicas } from './annotations.ts';
import { stepsOf } from './steps.ts';
import { byAge, sum, type WorkingSet } from './working-set.ts';

/** Whether a set was sized for a number of pods that is not wanted any more. */
export function isScaled({ spec }: DeepReadonly<Deployment>, sets: readonly WorkingSet[]): boolean {
  return sets
    .filter(({ isActive }) => isActive)
    .some(({ set }) => (desiredReplicas(set) ?? spec.replicas) !== spec.replicas);
}

export function scale(
  deployment: DeepReadonly<Deployment>,
  fresh: WorkingSet | undefined,
  old: readonly WorkingSet[],
): void {
  const { replicas, strategy } = deployment.spec;
  const all = fresh ? [...old, fresh] : old;
  const active = all.filter(({ isActive }) => isActive);
  const only = onlyOne(fresh, old);
  if (only) {
    only.scaleTo(replicas, deployment);
  } else if (fresh && isSaturated(deployment, fresh)) {
    for (const set of old) set.scaleTo(0, deployment);
  } else if (strategy.type === 'RollingUpdate') {
    share(deployment, active);
  }
  // Also where a size is right already: else the set would count as sized for another number for ever.
  for (const set of active) set.noteSizes(deployment);
}

/** The one that has pods; when none has, the newest. */
function onlyOne(fresh: WorkingSet | undefined, old: readonly WorkingSet[]): WorkingSet | undefined {
  const active = [...old, ...(fresh ? [fresh] : [])].filter(({ isActive }) => isActive);
  if (active.length > 1) return undefined;
  return active[0] ?? fresh ?? [...old].sort(byAge).at(-1);
}

function isSaturated({ spec }: DeepReadonly<Deployment>, fresh: WorkingSet): boolean {
  const { replicas } = spec;
  return fresh.replicas === replicas && desiredReplicas(fresh.set) === replicas && fresh.available === replicas;
}

/** Half way through a rollout the sets keep their proportions, so that what was proven and what was not stay as they are. */
function share(deployment: DeepReadonly<Deployment>, sets: readonly WorkingSet[]): void {
  const { replicas } = deployment.spec;
  const allowed = replicas > 0 ? replicas + stepsOf(deployment).maxSurge : 0;
  const toAdd = allowed - sum(sets, (set) => set.replicas);
  // The largest takes what rounding leaves over; of two equal ones the newer grows and the older shrinks.
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

/** Not further than the limit, which has the direction of all the shares. */
const within = (limit: number, part: number) => {
  if (limit === 0) return 0;
  return limit > 0 ? Math.min(part, limit) : Math.max(part, limit);
};

function fraction(deployment: DeepReadonly<Deployment>, { set, replicas }: WorkingSet): number {
  const { spec, status } = deployment;
  if (spec.replicas === 0) return -replicas;
  const before = maxReplicas(set) || (status.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((replicas * (spec.replicas + stepsOf(deployment).maxSurge)) / before) - replicas;
}
