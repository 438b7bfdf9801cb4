/** Maintains the pods of a ReplicationController, like a ReplicaSet's. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ReplicationController } from '../../../kinds/groups/core/replication-controller.ts';
import { defineController, type Snapshot } from '../../loop/define.ts';
import type { Plan } from '../../loop/plan.ts';
import { compiledLabels, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { countsPod, isSameForReplicas, planReplicas } from '../replica-set/plan-replicas.ts';

const pods: Ownership<ReplicationController, Pod> = {
  owner: ReplicationController,
  kind: Pod,
  selector: ({ spec }) => compiledLabels(spec.selector),
  counts: countsPod,
};

export const replicationControllerController = defineController<ReplicationController, boolean>({
  name: 'replication',
  account: 'replication-controller',
  watches: ReplicationController,
  owns: [Pod],
  ignoresUpdate: isSameForReplicas,
  also: [orphansOf(pods)],
  observe: (controller, world, tools) => observeAdoption(controller, pods, { world, ...tools }),
  plan: planReplicationController,
});

export function planReplicationController(
  controller: DeepReadonly<ReplicationController> | undefined,
  world: Pick<Snapshot<boolean>, 'of' | 'observed' | 'failures'>,
  now: Date,
): Plan {
  if (!controller) return [];
  return planReplicas(controller, world, {
    ownership: pods,
    related: ({ metadata }, { of }) =>
      of(Pod)
        .controlledBy(metadata.uid ?? '')
        .filter(countsPod),
    countsTerminating: false,
    now: now.getTime(),
  });
}
