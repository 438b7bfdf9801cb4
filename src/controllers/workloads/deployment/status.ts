/** The status of a Deployment: the sums of its ReplicaSets. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { type Conditions, said, withCondition } from './progress.ts';
import { updateLimitsOf } from './update-limits.ts';
import { sum, type WorkingSet } from './working-set.ts';

type Status = DeepReadonly<Deployment>['status'];

export interface StatusInput {
  readonly sets: readonly WorkingSet[];
  readonly currentSet: WorkingSet | undefined;
  readonly conditions: Conditions;
  readonly now: number;
}

export function countsOf(
  deployment: DeepReadonly<Deployment>,
  { sets, currentSet, conditions, now }: StatusInput,
): Status {
  const { spec, metadata, status } = deployment;
  const available = sum(sets, ({ set }) => set.status.availableReplicas ?? 0);
  const isAvailable = available >= spec.replicas - updateLimitsOf(deployment).maxUnavailable;
  const condition = isAvailable
    ? said('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
    : said('Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.');
  const terminating = terminatingOf(sets);
  return withoutZeros({
    observedGeneration: metadata.generation,
    replicas: sum(sets, ({ set }) => set.status.replicas ?? 0),
    updatedReplicas: currentSet?.set.status.replicas ?? 0,
    readyReplicas: sum(sets, ({ set }) => set.status.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(sets, ({ replicas }) => replicas) - available),
    conditions: withCondition(conditions, condition, now),
    terminatingReplicas: terminating,
    collisionCount: status.collisionCount,
  });
}

/** Unknown if any observed set does not report it. */
function terminatingOf(sets: readonly WorkingSet[]): number | undefined {
  let total = 0;
  for (const { set } of sets) {
    const { observedGeneration = 0, terminatingReplicas } = set.status;
    if (terminatingReplicas !== undefined) total += terminatingReplicas;
    else if (observedGeneration > 0) return undefined;
  }
  return total;
}

/** Omits counters that are 0, as most are. */
function withoutZeros(status: Status): Status {
  const { terminatingReplicas, collisionCount, ...rest } = status;
  const shown = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== 0)) as Status;
  return {
    ...shown,
    ...(terminatingReplicas === undefined ? {} : { terminatingReplicas }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
}
