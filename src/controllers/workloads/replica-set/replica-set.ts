/** Maintains the pods of a ReplicaSet. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { controllerOf } from '../../../client/informer/object-cache.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { defineController, type Listers, type Snapshot } from '../../loop/define.ts';
import type { Plan } from '../../loop/plan.ts';
import { compiledSelector, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { countsPod, isSameForReplicas, planReplicas } from './plan-replicas.ts';

const pods: Ownership<ReplicaSet, Pod> = {
  owner: ReplicaSet,
  kind: Pod,
  selector: ({ spec }) => compiledSelector(spec.selector),
  counts: countsPod,
};

export const replicaSetController = defineController<ReplicaSet, boolean>({
  name: 'replicaset',
  account: 'replicaset-controller',
  watches: ReplicaSet,
  owns: [Pod],
  ignoresUpdate: isSameForReplicas,
  also: [orphansOf(pods)],
  observe: (replicaSet, world, tools) => observeAdoption(replicaSet, pods, { world, ...tools }),
  plan: planReplicaSet,
});

export function planReplicaSet(
  replicaSet: DeepReadonly<ReplicaSet> | undefined,
  world: Pick<Snapshot<boolean>, 'of' | 'observed' | 'failures'>,
  now: Date,
): Plan {
  if (!replicaSet) return [];
  return planReplicas(replicaSet, world, { ownership: pods, related, countsTerminating: true, now: now.getTime() });
}

/** During a rollout of a Deployment, the pods of all its sets do the same work. */
function related(replicaSet: DeepReadonly<ReplicaSet>, { of }: Listers): readonly DeepReadonly<Pod>[] {
  const owner = controllerOf(replicaSet);
  const sets = owner ? of(ReplicaSet).controlledBy(owner.uid) : [replicaSet];
  return sets.flatMap(({ metadata }) =>
    of(Pod)
      .controlledBy(metadata.uid ?? '')
      .filter(countsPod),
  );
}
