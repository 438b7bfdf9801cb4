/** Manages the pods of a StatefulSet, each with its name and storage, and updates them to the current template. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { ControllerRevision } from '../../../kinds/groups/apps/controller-revision.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { changeStatus, type Plan } from '../../loop/plan.ts';
import type { Adoption } from '../../shared/history/history.ts';
import { claim, compiledSelector, type Ownership, observeAdoption, orphansOf } from '../../shared/ownership.ts';
import { isAvailable, nextAvailable } from '../../shared/pods/pod-life.ts';
import { setsOfClaim } from './claims.ts';
import { isRunningAndReady, type Members, membersOf, ordinalOf, type SeenSet } from './members.ts';
import { order, rollUpdate } from './order.ts';
import { nameOf, type Revisions, revisionOf, revisionsOf } from './revisions.ts';

type World = Pick<Snapshot<Adoption>, 'of' | 'observed'>;

const selector = ({ spec }: SeenSet) => compiledSelector(spec.selector);
const revisions: Ownership<StatefulSet, ControllerRevision> = {
  owner: StatefulSet,
  kind: ControllerRevision,
  selector,
};
const pods: Ownership<StatefulSet, Pod> = {
  owner: StatefulSet,
  kind: Pod,
  selector,
  // A pod with another name has no ordinal, whatever its labels.
  counts: (pod, set) => ordinalOf(pod, set) !== undefined,
};

export const statefulSetController = defineController<StatefulSet, Adoption>({
  name: 'statefulset',
  account: 'statefulset-controller',
  watches: StatefulSet,
  owns: [Pod, ControllerRevision],
  ignoresNew: [ControllerRevision],
  also: [orphansOf(pods), orphansOf(revisions), related(PersistentVolumeClaim, claimed)],
  observe: async (set, world, tools) => ({
    pods: await observeAdoption(set, pods, { world, ...tools }),
    revisions: await observeAdoption(set, revisions, { world, ...tools }),
  }),
  plan: planStatefulSet,
});

function claimed(claim: DeepReadonly<PersistentVolumeClaim>, { of }: Listers): readonly string[] {
  return setsOfClaim(claim, of(StatefulSet).list(claim.metadata.namespace ?? '')).map(keyOf);
}

export function planStatefulSet(set: SeenSet | undefined, world: World, time: Date): Plan {
  if (!set) return [];
  const now = time.getTime();
  const { mine, actions: claims } = claim(set, pods, { world, mayAdopt: world.observed.pods });
  const members = membersOf(set, mine);
  if (set.metadata.deletionTimestamp)
    return changeStatus(StatefulSet, set, statusOf(set, members, { revisions: undefined, now }));
  const past = claim(set, revisions, { world, mayAdopt: world.observed.revisions });
  const known = revisionsOf(set, past.mine, { pods: mine, world });
  const ordered = order(set, members, { revisions: known, world, now });
  return [
    ...claims,
    ...past.actions,
    ...known.actions,
    ...changeStatus(StatefulSet, set, statusOf(set, members, { revisions: known, now })),
    ...ordered.actions,
    ...(ordered.isDone ? rollUpdate(set, members, { revisions: known, now }) : []),
    ...nextAvailable(mine, set.spec.minReadySeconds ?? 0, now),
  ];
}

interface StatusInput {
  /** Revisions; undefined when the set is being deleted: then the previous values stay. */
  readonly revisions: Revisions | undefined;
  readonly now: number;
}

function statusOf(set: SeenSet, { present, condemned }: Members, { revisions, now }: StatusInput): object {
  const { metadata, spec, status } = set;
  const pods = [...present, ...condemned].map(({ pod }) => pod);
  const ready = pods.filter(isRunningAndReady);
  const available = ready.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now));
  const current = revisions ? nameOf(revisions.current) : status.currentRevision;
  const update = revisions ? nameOf(revisions.update) : status.updateRevision;
  const updated = countOf(pods, update);
  const isComplete =
    spec.updateStrategy.type === 'RollingUpdate' &&
    updated === spec.replicas &&
    ready.length === spec.replicas &&
    pods.length === spec.replicas;
  return {
    ...status,
    observedGeneration: metadata.generation,
    replicas: pods.length,
    readyReplicas: shown(ready.length),
    availableReplicas: available.length,
    currentReplicas: shown(isComplete ? updated : countOf(pods, current)),
    updatedReplicas: shown(updated),
    currentRevision: isComplete ? update : current,
    updateRevision: update,
    collisionCount: revisions?.collisions ?? status.collisionCount,
  };
}

/** Pods of the revision that are not terminating. */
const countOf = (pods: readonly SeenPod[], revision: string | undefined) =>
  pods.filter((pod) => !pod.metadata.deletionTimestamp && revisionOf(pod) === revision).length;

/** Zero is omitted. */
const shown = (count: number) => count || undefined;
