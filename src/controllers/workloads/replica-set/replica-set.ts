/** Maintains the pods of ReplicaSets and ReplicationControllers. */

import { controllerOf } from '../../../client/informer/object-cache.ts';
import { ReplicaSet } from '../../../kinds/groups/apps/replica-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import type { Listers } from '../../loop/define.ts';
import type { Named } from '../../loop/plan.ts';
import { compiledLabels, compiledSelector } from '../../shared/ownership.ts';
import { isActive } from '../../shared/pods/pod-life.ts';
import { replicasController } from './plan-replicas.ts';

export const { controller: replicaSetController, plan: planReplicaSet } = replicasController<ReplicaSet>(
  { name: 'replicaset', account: 'replicaset-controller' },
  {
    owner: ReplicaSet,
    selector: ({ spec }) => compiledSelector(spec.selector),
    // During a rollout of a Deployment, the pods of all its sets do the same work.
    related(replicaSet, world) {
      const owner = controllerOf(replicaSet);
      const sets = owner ? world.of(ReplicaSet).controlledBy(owner.uid) : [replicaSet];
      return sets.flatMap((set) => podsOf(set, world));
    },
    countsTerminating: true,
  },
);

export const { controller: replicationControllerController, plan: planReplicationController } =
  replicasController<ReplicationController>(
    { name: 'replication', account: 'replication-controller' },
    {
      owner: ReplicationController,
      selector: ({ spec }) => compiledLabels(spec.selector),
      related: podsOf,
      countsTerminating: false,
    },
  );

function podsOf({ metadata }: Named, { of }: Listers) {
  return of(Pod)
    .controlledBy(metadata.uid ?? '')
    .filter(isActive);
}
